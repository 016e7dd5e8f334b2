#include <cstdlib>
#include <vector>

#include "base/bytes.h"
#include "unwind/frame_walk.h"

namespace {

using namespace qperf;

/// The input's bytes, repeated without end, are the guest's memory; every forbidden read aborts.
class RepeatedMemory final : public unwind::MemoryReader {
 public:
  RepeatedMemory(std::span<const std::byte> pattern, GuestRange allowed) : pattern_(pattern), allowed_(allowed) {}

  std::span<const std::byte> read(GuestVa address, size_t size_bytes) noexcept override {
    const GuestVa last{address.raw + size_bytes - 1};
    if (size_bytes == 0 || last < address || !allowed_.contains(address) || !allowed_.contains(last)) std::abort();
    if (address.raw / unwind::kPageBytes != last.raw / unwind::kPageBytes) std::abort();
    // A page in eight is not mapped.
    if (pattern_.empty() || (address.raw / unwind::kPageBytes) % 8 == 7) return {};
    bytes_.resize(size_bytes);
    for (size_t i = 0; i < size_bytes; ++i) bytes_[i] = pattern_[(address.raw + i) % pattern_.size()];
    return bytes_;
  }

 private:
  std::span<const std::byte> pattern_;
  GuestRange allowed_;
  std::vector<std::byte> bytes_;
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  ByteReader in(std::as_bytes(std::span(data, size)));
  const auto target = guest::target_by_value(static_cast<uint8_t>(in.u8().value_or(0) % 4 + 1));
  const GuestVa sp{in.u64().value_or(0)};
  const GuestVa fp{in.u64().value_or(0)};
  const GuestVa first{in.u64().value_or(0)};
  const uint64_t max_stack_bytes = in.u32().value_or(0) % (64U << 20);
  std::vector<GuestVa> frames(in.u16().value_or(0) % 4097);
  const GuestRange range{first, GuestVa{~uint64_t{0}}};
  const auto pattern = *in.bytes(in.remaining());
  RepeatedMemory memory(pattern, range);
  // The second walk knows the first one's pages.
  unwind::StackPages pages;
  (void)unwind::walk_frames({*target, range, max_stack_bytes, &pages}, fp, sp, memory, frames);
  const auto result = unwind::walk_frames({*target, range, max_stack_bytes, &pages}, sp, fp, memory, frames);
  if (result.frames > frames.size()) std::abort();
  for (size_t i = 0; i < result.frames; ++i)
    if (!range.contains(frames[i])) std::abort();
  return 0;
}
