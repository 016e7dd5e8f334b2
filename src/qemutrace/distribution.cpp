#include "qemutrace/distribution.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace qperf::qemutrace {
namespace {

// A bucket holds the values that agree in their highest set bit and the six bits below it: 1/64 of the value wide, so that its
// middle is at most 0.8 % away. Values below 128 have a bucket each.
constexpr unsigned kFractionBits = 6;
constexpr size_t kBuckets = (64 - kFractionBits) << kFractionBits;

size_t bucket_of(uint64_t value) noexcept {
  if (value < (uint64_t{2} << kFractionBits)) return static_cast<size_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - kFractionBits - 1;
  return (size_t{shift} << kFractionBits) + static_cast<size_t>(value >> shift);
}

uint64_t middle_of(size_t bucket) noexcept {
  if (bucket < (size_t{2} << kFractionBits)) return bucket;
  const auto shift = static_cast<unsigned>((bucket >> kFractionBits) - 1);
  const uint64_t begin = (uint64_t{bucket} - (uint64_t{shift} << kFractionBits)) << shift;
  return begin + ((uint64_t{1} << shift) >> 1);
}

}  // namespace

void Distribution::add(uint64_t value) {
  least_ = count_ == 0 ? value : std::min(least_, value);
  greatest_ = std::max(greatest_, value);
  ++count_;
  total_ += static_cast<double>(value);
  if (!buckets_.empty()) {
    ++buckets_[bucket_of(value)];
    return;
  }
  values_.push_back(value);
  sorted_ = false;
  if (values_.size() > kMostExact) spill();
}

void Distribution::spill() {
  buckets_.resize(kBuckets + (size_t{1} << kFractionBits));
  for (const uint64_t value : values_) ++buckets_[bucket_of(value)];
  values_ = {};
}

uint64_t Distribution::quantile(double share) const {
  if (count_ == 0) return 0;
  const auto wanted = static_cast<uint64_t>(std::ceil(share * static_cast<double>(count_)));
  const uint64_t rank = std::clamp<uint64_t>(wanted, 1, count_);
  if (rank == 1) return least_;
  if (rank == count_) return greatest_;
  if (exact()) {
    if (!sorted_) std::sort(values_.begin(), values_.end());
    sorted_ = true;
    return values_[rank - 1];
  }
  uint64_t seen = 0;
  for (size_t bucket = 0; bucket < buckets_.size(); ++bucket) {
    seen += buckets_[bucket];
    if (seen >= rank) return std::clamp(middle_of(bucket), least_, greatest_);
  }
  return greatest_;
}

uint64_t Distribution::median() const {
  if (count_ == 0) return 0;
  if (count_ % 2 == 1 || !exact()) return quantile(0.5);
  if (!sorted_) std::sort(values_.begin(), values_.end());
  sorted_ = true;
  const size_t middle = values_.size() / 2;
  return values_[middle - 1] + (values_[middle] - values_[middle - 1]) / 2;
}

}  // namespace qperf::qemutrace
