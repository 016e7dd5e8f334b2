#include "sched/latency.h"

#include <algorithm>
#include <bit>

namespace qperf::sched {
namespace {

constexpr unsigned kBits = 6;  // 64 buckets per power of two
constexpr uint64_t kExactBelow = uint64_t{2} << kBits;

uint32_t bucket_of(uint64_t value) noexcept {
  if (value < kExactBelow) return static_cast<uint32_t>(value);
  const auto shift = static_cast<unsigned>(std::bit_width(value)) - (kBits + 1);
  return static_cast<uint32_t>((uint64_t{shift} << kBits) + (value >> shift));
}

uint64_t middle_of(uint32_t bucket) noexcept {
  if (bucket < kExactBelow) return bucket;
  const unsigned shift = (bucket >> kBits) - 1;
  const uint64_t mantissa = bucket - (uint64_t{shift} << kBits);
  return (mantissa << shift) + (uint64_t{1} << (shift - 1));
}

}  // namespace

void LatencyHistogram::add(uint64_t duration_ns, WallNs at_ns) {
  const uint32_t index = bucket_of(duration_ns);
  const auto it = std::ranges::lower_bound(buckets_, index, {}, &Bucket::index);
  if (it != buckets_.end() && it->index == index) {
    if (it->count != UINT32_MAX) ++it->count;
  } else {
    buckets_.insert(it, {index, 1});
  }
  if (count_ == 0 || duration_ns > max_ns_) {
    max_ns_ = duration_ns;
    max_at_ns_ = at_ns;
  }
  ++count_;
  sum_ns_ += duration_ns;
}

uint64_t LatencyHistogram::quantile_ns(uint32_t per_mille) const noexcept {
  if (count_ == 0) return 0;
  const uint64_t rank = std::max<uint64_t>(1, count_ / 1000 * per_mille + (count_ % 1000 * per_mille + 999) / 1000);
  uint64_t seen = 0;
  for (const Bucket& bucket : buckets_) {
    seen += bucket.count;
    if (seen >= rank) return std::min(middle_of(bucket.index), max_ns_);
  }
  return max_ns_;
}

}  // namespace qperf::sched
