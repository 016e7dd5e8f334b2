#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace qperf::tools {

/// Spans that may overlap, in as few lanes as hold them apart: each takes the first lane that is free.
template <typename Time>
class FreeLanes {
 public:
  /// Spans come by `from`. Returns the number of the lane; a number that was not returned before is that of a new lane.
  uint32_t take(Time from, Time to) {
    const auto free = std::ranges::find_if(busy_until_, [from](Time end) { return end <= from; });
    const auto number = static_cast<uint32_t>(free - busy_until_.begin());
    if (free == busy_until_.end())
      busy_until_.push_back(to);
    else
      *free = to;
    return number;
  }

  /// Whether a span from `from` on would get a lane below `most`.
  [[nodiscard]] bool has_room(Time from, size_t most) const {
    return busy_until_.size() < most || std::ranges::any_of(busy_until_, [from](Time end) { return end <= from; });
  }

 private:
  std::vector<Time> busy_until_;
};

}  // namespace qperf::tools
