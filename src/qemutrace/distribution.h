#pragma once

#include <cstdint>
#include <vector>

namespace qperf::qemutrace {

/// A set of durations or sizes with exact quantiles: eight bytes a value.
class Distribution {
 public:
  void add(uint64_t value) {
    values_.push_back(value);
    sorted_ = false;
  }
  [[nodiscard]] uint64_t count() const noexcept { return values_.size(); }
  [[nodiscard]] double mean() const noexcept;
  [[nodiscard]] double total() const noexcept;
  /// The value that `share` (0..1) of the values do not exceed, the smallest such; 0 when empty. 0 is the least, 1 the
  /// greatest.
  [[nodiscard]] uint64_t quantile(double share) const;
  /// The middle value, of an even number the mean of both in the middle.
  [[nodiscard]] uint64_t median() const;

 private:
  mutable std::vector<uint64_t> values_;  // sorted on the first question
  mutable bool sorted_ = true;
};

}  // namespace qperf::qemutrace
