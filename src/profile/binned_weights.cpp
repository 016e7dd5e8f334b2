#include "profile/binned_weights.h"

#include <algorithm>
#include <compare>

namespace qperf::profile {
namespace {

using Row = BinnedWeights::Row;

/// Two words instead of four fields: a million rows are compared some twenty million times.
struct Key {
  uint64_t bin_and_vcpu;
  uint64_t group_and_stack;
  friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

Key key(const Row& row) noexcept {
  return {uint64_t{row.bin} << 32 | row.vcpu.raw, uint64_t{row.group} << 32 | row.stack.raw};
}

bool before(const Row& a, const Row& b) noexcept { return key(a) < key(b); }

/// Of sorted rows, or of the end of `sums` and a row that is not before it.
void add_up(std::vector<Row>& sums, const Row& row) {
  if (!sums.empty() && key(sums.back()) == key(row))
    sums.back().weight = saturating_add(sums.back().weight, row.weight);
  else
    sums.push_back(row);
}

}  // namespace

BinnedWeights::BinnedWeights(unsigned bin_bits, std::vector<Row> rows) : bin_bits_(bin_bits) {
  std::ranges::sort(rows, before);
  for (const Row& row : rows) add_up(rows_, row);
  while (!rows_.empty() && rows_.back().bin >= kBins) halve_bins();
}

/// Each new bin is two old ones, and those are sorted: one merge.
void BinnedWeights::halve_bins() {
  ++bin_bits_;
  std::vector<Row> sums;
  sums.reserve(rows_.size());
  for (auto begin = rows_.begin(); begin != rows_.end();) {
    const uint32_t bin = begin->bin >> 1;
    auto middle = begin;
    for (; middle != rows_.end() && middle->bin == bin << 1; ++middle) middle->bin = bin;
    auto end = middle;
    for (; end != rows_.end() && end->bin >> 1 == bin; ++end) end->bin = bin;
    auto left = begin;
    auto right = middle;
    while (left != middle && right != end) add_up(sums, before(*right, *left) ? *right++ : *left++);
    for (; left != middle; ++left) add_up(sums, *left);
    for (; right != end; ++right) add_up(sums, *right);
    begin = end;
  }
  rows_ = std::move(sums);
}

void BinnedWeights::fit(size_t rows) {
  while (rows_.size() > rows && bin_bits_ < kMostBinBits && rows_.back().bin > 0) halve_bins();
}

void BinnedWeights::widen(uint64_t bin_ns) {
  while (this->bin_ns() < bin_ns && bin_bits_ < kMostBinBits) halve_bins();
}

}  // namespace qperf::profile
