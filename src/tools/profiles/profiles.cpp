#include "tools/profiles/profiles.h"

#include <algorithm>

namespace qperf::tools {
namespace {

uint64_t rate_of(const analysis::CaptureInput& input) {
  if (input.legacy) return 0;
  const capture::Header& header = input.summary.header;
  return header.mode == guest::Mode::kWall ? header.freq_hz : header.period_insns;
}

}  // namespace

std::vector<VcpuIndex> Profiles::vcpus() const {
  std::vector<VcpuIndex> all = current.weights.vcpus();
  if (baseline != nullptr) {
    const auto more = baseline->weights.vcpus();
    all.insert(all.end(), more.begin(), more.end());
  }
  std::ranges::sort(all);
  all.erase(std::unique(all.begin(), all.end()), all.end());
  return all;
}

bool Profiles::different_rates() const { return baseline != nullptr && rate_of(baseline->input) != rate_of(current.input); }

}  // namespace qperf::tools
