#include "profile/difference.h"

#include <algorithm>
#include <utility>

namespace qperf::profile {
namespace {

void append(std::vector<Change>& changes, const WeightTable& weights, uint64_t Change::* side, ByVcpu by_vcpu) {
  for (const WeightRow& row : weights.rows()) {
    Change change;
    change.stack = row.stack;
    if (by_vcpu == ByVcpu::kApart) change.vcpu = row.vcpu;
    change.*side = row.weight;
    changes.push_back(change);
  }
}

}  // namespace

std::vector<Change> difference(const WeightTable& before, const WeightTable& after, ByVcpu by_vcpu) {
  std::vector<Change> all;
  append(all, before, &Change::before, by_vcpu);
  append(all, after, &Change::after, by_vcpu);
  const auto key = [](const Change& c) { return std::pair(c.vcpu, c.stack); };
  std::ranges::stable_sort(all, {}, key);
  std::vector<Change> joined;
  for (const Change& change : all) {
    if (!joined.empty() && key(joined.back()) == key(change)) {
      joined.back().before = saturating_add(joined.back().before, change.before);
      joined.back().after = saturating_add(joined.back().after, change.after);
    } else {
      joined.push_back(change);
    }
  }
  return joined;
}

}  // namespace qperf::profile
