#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace qperf::qemutrace {

/// A set of durations or sizes with quantiles. Up to kMostExact values they are exact; beyond, values are counted in buckets
/// less than 1 % wide, so that memory stays flat. Count, total, least and greatest are always exact.
class Distribution {
 public:
  static constexpr size_t kMostExact = size_t{1} << 16;

  void add(uint64_t value);
  [[nodiscard]] uint64_t count() const noexcept { return count_; }
  [[nodiscard]] double mean() const noexcept { return count_ == 0 ? 0 : total_ / static_cast<double>(count_); }
  [[nodiscard]] double total() const noexcept { return total_; }
  /// The value that `share` (0..1) of the values do not exceed, the smallest such; 0 when empty. 0 is the least, 1 the
  /// greatest.
  [[nodiscard]] uint64_t quantile(double share) const;
  /// The middle value, of an even number the mean of both in the middle (beyond kMostExact, quantile(0.5)).
  [[nodiscard]] uint64_t median() const;
  /// False: quantiles are bucket middles, at most 1 % off.
  [[nodiscard]] bool exact() const noexcept { return buckets_.empty(); }

 private:
  void spill();

  mutable std::vector<uint64_t> values_;  // sorted on the first question
  mutable bool sorted_ = true;
  std::vector<uint64_t> buckets_;  // empty while exact
  uint64_t count_ = 0;
  double total_ = 0;
  uint64_t least_ = 0;
  uint64_t greatest_ = 0;
};

}  // namespace qperf::qemutrace
