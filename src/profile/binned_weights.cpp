#include "profile/binned_weights.h"

#include <algorithm>
#include <bit>
#include <compare>
#include <tuple>

namespace qperf::profile {
namespace {

constexpr unsigned kMostBinBits = 63;

/// Two words instead of four fields: a million rows are compared some twenty million times.
struct Key {
  uint64_t bin_and_vcpu;
  uint64_t group_and_stack;
  friend constexpr auto operator<=>(const Key&, const Key&) = default;
};

Key key(const BinnedWeights::Row& row) noexcept {
  return {uint64_t{row.bin} << 32 | row.vcpu.raw, uint64_t{row.group} << 32 | row.stack.raw};
}

}  // namespace

BinnedWeights::BinnedWeights(WallNs end_ns, size_t max_rows) : max_rows_(max_rows) {
  const auto wanted = static_cast<unsigned>(std::bit_width(end_ns / kBins));
  bin_bits_ = std::clamp(wanted, kLeastBinBits, kMostBinBits);
}

void BinnedWeights::add(WallNs at_ns, VcpuIndex vcpu, StackId stack, uint64_t weight) {
  // A clock that no recorder reaches (half a million years in the least bins) must not wrap.
  while (at_ns >> bin_bits_ > UINT32_MAX) halve_bins();
  if (vcpu.raw >= cells_.size()) cells_.resize(vcpu.raw + size_t{1});
  Cell* cell = &cells_[vcpu.raw];
  const uint64_t bin = at_ns >> bin_bits_;
  if (cell->bin != bin) {
    cell->bin = bin;
    cell->rows.clear();
  }
  const auto [position, added] = cell->rows.try_emplace(stack.raw, static_cast<uint32_t>(rows_.size()));
  if (!added) {
    uint64_t& sum = rows_[position->second].weight;
    sum = saturating_add(sum, weight);
    return;
  }
  rows_.push_back({.bin = static_cast<uint32_t>(bin), .vcpu = vcpu, .group = 0, .stack = stack, .weight = weight});
  if (rows_.size() >= max_rows_) make_room();
}

void BinnedWeights::merge() {
  std::ranges::sort(rows_, [](const Row& a, const Row& b) { return key(a) < key(b); });
  size_t kept = 0;
  for (const Row& row : rows_) {
    if (kept > 0 && key(rows_[kept - 1]) == key(row))
      rows_[kept - 1].weight = saturating_add(rows_[kept - 1].weight, row.weight);
    else
      rows_[kept++] = row;
  }
  rows_.resize(kept);
  // Rows have moved.
  for (Cell& cell : cells_) cell = Cell{};
}

void BinnedWeights::halve_bins() {
  ++bin_bits_;
  for (Row& row : rows_) row.bin >>= 1;
  merge();
}

void BinnedWeights::make_room() {
  merge();
  while (rows_.size() > max_rows_ / 4 * 3 && bin_bits_ < kMostBinBits) halve_bins();
  // One bin is left, and more different stacks than rows were meant for: they are what the profile is made of.
  if (rows_.size() > max_rows_ / 4 * 3) max_rows_ *= 2;
}

BinnedWeights BinnedWeights::sorted(const std::function<std::pair<StackId, uint32_t>(StackId)>& new_id) const {
  BinnedWeights result;
  result.max_rows_ = max_rows_;
  result.bin_bits_ = bin_bits_;
  result.rows_ = rows_;
  for (Row& row : result.rows_) std::tie(row.stack, row.group) = new_id(row.stack);
  result.merge();
  while (!result.rows_.empty() && result.rows_.back().bin >= kBins) result.halve_bins();
  return result;
}

void BinnedWeights::fit(size_t rows) {
  while (rows_.size() > rows && bin_bits_ < kMostBinBits && rows_.back().bin > 0) halve_bins();
}

}  // namespace qperf::profile
