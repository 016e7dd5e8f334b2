#include "tools/profiles/profiles.h"

#include <algorithm>

#include "tools/profiles/weight_words.h"

namespace qperf::tools {
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
