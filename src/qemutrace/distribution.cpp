#include "qemutrace/distribution.h"

#include <algorithm>
#include <cmath>

namespace qperf::qemutrace {

double Distribution::total() const noexcept {
  double sum = 0;
  for (const uint64_t value : values_) sum += static_cast<double>(value);
  return sum;
}

double Distribution::mean() const noexcept { return values_.empty() ? 0 : total() / static_cast<double>(values_.size()); }

uint64_t Distribution::quantile(double share) const {
  if (values_.empty()) return 0;
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
  const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values_.size())));
  return values_[std::clamp<size_t>(rank, 1, values_.size()) - 1];
}

uint64_t Distribution::median() const {
  if (values_.empty()) return 0;
  if (values_.size() % 2 == 1) return quantile(0.5);
  (void)quantile(0.5);  // sorts
  const size_t middle = values_.size() / 2;
  return values_[middle - 1] + (values_[middle] - values_[middle - 1]) / 2;
}

}  // namespace qperf::qemutrace
