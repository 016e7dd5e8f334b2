#include "timeline/nearest_sample.h"

#include <algorithm>

namespace qperf::timeline {

void NearestSample::add(VcpuIndex vcpu, WallNs at_ns, uint32_t what) {
  if (vcpu.raw >= kMaxVcpus) return;
  if (vcpu.raw >= of_vcpu_.size()) of_vcpu_.resize(vcpu.raw + size_t{1});
  of_vcpu_[vcpu.raw].emplace_back(static_cast<int64_t>(std::min<WallNs>(at_ns, INT64_MAX / 2)), what);
}

void NearestSample::seal() {
  for (auto& samples : of_vcpu_) {
    std::stable_sort(samples.begin(), samples.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
  }
}

std::optional<NearestSample::Found> NearestSample::find(uint64_t vcpu, int64_t at_ns, uint64_t bound_ns) const noexcept {
  if (vcpu >= of_vcpu_.size()) return std::nullopt;
  const auto& samples = of_vcpu_[vcpu];
  const auto after = std::lower_bound(samples.begin(), samples.end(), at_ns,
                                      [](const auto& sample, int64_t ns) { return sample.first < ns; });
  const auto distance = [at_ns](const auto& sample) {
    return sample.first > at_ns ? static_cast<uint64_t>(sample.first) - static_cast<uint64_t>(at_ns)
                                : static_cast<uint64_t>(at_ns) - static_cast<uint64_t>(sample.first);
  };
  const std::pair<int64_t, uint32_t>* best = nullptr;
  if (after != samples.begin()) best = &*(after - 1);
  if (after != samples.end() && (best == nullptr || distance(*after) < distance(*best))) best = &*after;
  if (best == nullptr || distance(*best) > bound_ns) return std::nullopt;
  return Found{best->second, distance(*best)};
}

}  // namespace qperf::timeline
