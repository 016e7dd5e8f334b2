#include "profile/weights.h"

#include <algorithm>

namespace qperf::profile {

size_t WeightTable::row_of(VcpuIndex vcpu, StackId stack) {
  const uint64_t key = (uint64_t{vcpu.raw} << 32) | stack.raw;
  const auto [position, added] = index_.try_emplace(key, static_cast<uint32_t>(rows_.size()));
  if (added) rows_.push_back(WeightRow{.vcpu = vcpu, .stack = stack});
  return position->second;
}

uint64_t WeightTable::total_weight() const noexcept {
  uint64_t total = 0;
  for (const auto& row : rows_) total = saturating_add(total, row.weight);
  return total;
}

uint64_t WeightTable::total_samples() const noexcept {
  uint64_t total = 0;
  for (const auto& row : rows_) total = saturating_add(total, row.samples);
  return total;
}

std::vector<VcpuIndex> WeightTable::vcpus() const {
  std::vector<VcpuIndex> found;
  for (const auto& row : rows_)
    if (found.empty() || found.back() != row.vcpu) found.push_back(row.vcpu);
  std::ranges::sort(found);
  found.erase(std::unique(found.begin(), found.end()), found.end());
  return found;
}

}  // namespace qperf::profile
