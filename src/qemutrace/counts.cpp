#include "qemutrace/counts.h"

#include <algorithm>
#include <numeric>
#include <tuple>

#include "base/printable.h"

namespace qperf::qemutrace {

std::vector<EventCounts::Row> EventCounts::rows() const {
  std::vector<Row> out;
  for (size_t i = 0; i < counts_.size(); ++i) {
    if (counts_[i] > 0) out.push_back({printable(names_[i]), counts_[i]});
  }
  std::sort(out.begin(), out.end(),
            [](const Row& a, const Row& b) { return std::tie(b.count, a.name) < std::tie(a.count, b.name); });
  return out;
}

uint64_t EventCounts::total() const noexcept { return std::accumulate(counts_.begin(), counts_.end(), uint64_t{0}); }

}  // namespace qperf::qemutrace
