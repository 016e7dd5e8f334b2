#include "profile/bin_collector.h"

#include <algorithm>
#include <bit>

namespace qperf::profile {
namespace {

constexpr unsigned kLeastBinBits = 10;

}  // namespace

BinCollector::BinCollector(WallNs end_ns, size_t max_sums)
    : max_sums_(max_sums),
      bin_bits_(std::clamp(static_cast<unsigned>(std::bit_width(end_ns / BinnedWeights::kBins)), kLeastBinBits, BinnedWeights::kMostBinBits)) {}

void BinCollector::add(WallNs at_ns, uint32_t pair, uint64_t weight) {
  // A clock that no recorder reaches (half a million years in the least bins) must not wrap.
  while (at_ns >> bin_bits_ > UINT32_MAX) merge(1);
  if (pair >= latest_.size()) latest_.resize(pair + size_t{1});
  const auto bin = static_cast<uint32_t>(at_ns >> bin_bits_);
  Latest& latest = latest_[pair];
  if (latest.sum_plus_1 != 0 && latest.bin == bin) {
    uint64_t& sum = sums_[latest.sum_plus_1 - 1].weight;
    sum = saturating_add(sum, weight);
    return;
  }
  in_order_ &= latest.bin <= bin;
  sums_.push_back({.bin = bin, .pair = pair, .weight = weight});
  latest = {.bin = bin, .sum_plus_1 = static_cast<uint32_t>(sums_.size())};
  if (sums_.size() >= max_sums_) make_room();
}

void BinCollector::merge(unsigned shift) {
  if (!in_order_) std::ranges::sort(sums_, {}, [](const Sum& sum) { return uint64_t{sum.pair} << 32 | sum.bin; });
  in_order_ = true;
  bin_bits_ += shift;
  std::ranges::fill(latest_, Latest{});
  size_t kept = 0;
  for (const Sum& old : sums_) {
    const Sum sum{.bin = old.bin >> shift, .pair = old.pair, .weight = old.weight};
    Latest& latest = latest_[sum.pair];
    if (latest.sum_plus_1 != 0 && latest.bin == sum.bin) {
      uint64_t& into = sums_[latest.sum_plus_1 - 1].weight;
      into = saturating_add(into, sum.weight);
      continue;
    }
    sums_[kept++] = sum;
    latest = {.bin = sum.bin, .sum_plus_1 = static_cast<uint32_t>(kept)};
  }
  sums_.resize(kept);
}

void BinCollector::make_room() {
  const size_t goal = max_sums_ / 4 * 3;
  if (!in_order_) merge(0);
  const auto several_bins = [this] { return std::ranges::any_of(sums_, [](const Sum& sum) { return sum.bin > 0; }); };
  while (sums_.size() > goal && bin_bits_ < BinnedWeights::kMostBinBits && several_bins()) merge(1);
  // One bin is left, and more different pairs than sums were meant for: they are what the profile is made of.
  if (sums_.size() > goal) max_sums_ *= 2;
}

BinnedWeights BinCollector::binned(const std::function<Cell(uint32_t pair)>& cell_of) const {
  std::vector<BinnedWeights::Row> rows;
  rows.reserve(sums_.size());
  for (const Sum& sum : sums_) {
    const Cell cell = cell_of(sum.pair);
    rows.push_back({.bin = sum.bin, .vcpu = cell.vcpu, .group = cell.group, .stack = cell.stack, .weight = sum.weight});
  }
  return {bin_bits_, std::move(rows)};
}

}  // namespace qperf::profile
