#pragma once

#include <cstdint>
#include <vector>

#include "base/types.h"

namespace qperf::sched {

/// Durations in log-linear buckets: exact below 128 ns, then 64 buckets per power of two, so that a quantile is off by less
/// than 1/128 (0.8 %) of its value. Count, sum and maximum are exact. Only used buckets take memory: at most 3776.
class LatencyHistogram {
 public:
  void add(uint64_t duration_ns, WallNs at_ns);

  [[nodiscard]] uint64_t count() const noexcept { return count_; }
  [[nodiscard]] uint64_t sum_ns() const noexcept { return sum_ns_; }
  [[nodiscard]] uint64_t max_ns() const noexcept { return max_ns_; }
  /// When the maximum ended, the first of equal ones.
  [[nodiscard]] WallNs max_at_ns() const noexcept { return max_at_ns_; }
  /// The duration that `per_mille` of 1000 do not exceed (nearest rank), as its bucket's middle; 0 if empty.
  [[nodiscard]] uint64_t quantile_ns(uint32_t per_mille) const noexcept;

 private:
  struct Bucket {
    uint32_t index;
    uint32_t count;
  };
  std::vector<Bucket> buckets_;  // ascending, used ones only
  uint64_t count_ = 0;
  uint64_t sum_ns_ = 0;
  uint64_t max_ns_ = 0;
  WallNs max_at_ns_ = 0;
};

}  // namespace qperf::sched
