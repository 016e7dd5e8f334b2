#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>

#include "capture/legacy.h"
#include "capture/limits.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf;
  uint64_t delivered = 0;
  const auto summary = capture::read_legacy_capture(
      std::as_bytes(std::span(data, size)), "fuzz", [&](VcpuIndex vcpu, std::span<const GuestVa> addresses) -> Result<void> {
        if (vcpu.raw >= capture::kMaxVcpus || addresses.size() > capture::kMaxFramesPerSample) std::abort();
        ++delivered;
        return {};
      });
  if (summary && summary->samples != delivered) std::abort();
  return 0;
}
