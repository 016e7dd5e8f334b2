#include "profile/timeline.h"

#include <algorithm>

namespace qperf::profile {

void Timeline::add(WallNs start_ns, VcpuIndex vcpu, StackId stack, uint64_t weight) {
  if (!complete_) return;
  const auto [position, added] = last_of_vcpu_.try_emplace(vcpu.raw, runs_.size());
  if (!added) {
    Run& last = runs_[position->second];
    if (last.stack == stack) {
      last.weight = saturating_add(last.weight, weight);
      return;
    }
    position.value() = runs_.size();
  }
  if (runs_.size() == kMaxRuns) {
    complete_ = false;
    runs_.clear();
    runs_.shrink_to_fit();
    return;
  }
  runs_.push_back(Run{start_ns, vcpu, stack, weight});
}

Timeline Timeline::renamed(const std::function<StackId(StackId)>& new_id) const {
  Timeline result;
  result.complete_ = complete_;
  for (const Run& run : runs_) result.add(run.start_ns, run.vcpu, new_id(run.stack), run.weight);
  return result;
}

std::vector<Run> Timeline::ordered(const std::function<bool(VcpuIndex)>& selects) const {
  std::vector<Run> sorted;
  for (const Run& run : runs_)
    if (selects(run.vcpu)) sorted.push_back(run);
  std::ranges::stable_sort(
      sorted, [](const Run& a, const Run& b) { return a.start_ns != b.start_ns ? a.start_ns < b.start_ns : a.vcpu < b.vcpu; });
  std::vector<Run> joined;
  for (const Run& run : sorted) {
    if (!joined.empty() && joined.back().stack == run.stack)
      joined.back().weight = saturating_add(joined.back().weight, run.weight);
    else
      joined.push_back(run);
  }
  return joined;
}

}  // namespace qperf::profile
