#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

namespace qperf::tools {

/// Spans that may overlap, in as few lanes as hold them apart: each takes the first lane that is free. A million of them may
/// overlap, so that no lane is looked at in vain.
template <typename Time>
class FreeLanes {
 public:
  /// Spans come by `from`. Returns the number of the lane; a number that was not returned before is that of a new lane.
  uint32_t take(Time from, Time to) {
    release(from);
    uint32_t number = lanes_;
    if (free_.empty()) {
      ++lanes_;
    } else {
      number = free_.top();
      free_.pop();
    }
    busy_.emplace(to, number);
    return number;
  }

  /// Whether a span from `from` on would get a lane below `most`.
  [[nodiscard]] bool has_room(Time from, size_t most) {
    release(from);
    return lanes_ < most || !free_.empty();
  }

 private:
  void release(Time from) {
    for (; !busy_.empty() && busy_.top().first <= from; busy_.pop()) free_.push(busy_.top().second);
  }

  template <typename T>
  using LeastFirst = std::priority_queue<T, std::vector<T>, std::greater<>>;
  LeastFirst<std::pair<Time, uint32_t>> busy_;  // until when, which
  LeastFirst<uint32_t> free_;
  uint32_t lanes_ = 0;
};

}  // namespace qperf::tools
