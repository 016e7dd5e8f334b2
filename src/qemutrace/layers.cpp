#include "qemutrace/layers.h"

#include <algorithm>
#include <array>
#include <deque>
#include <limits>
#include <optional>
#include <tuple>

namespace qperf::qemutrace {
namespace {

/// The lower layer's requests that nobody above has claimed yet.
class Pool {
 public:
  Pool(const Layer& layer, LayerClocks clocks, int64_t offset_sectors)
      : layer_(layer), clocks_(clocks), claimed_(layer.requests.size()) {
    const auto offset = static_cast<uint64_t>(offset_sectors);
    for (size_t i = 0; i < layer.requests.size(); ++i) {
      const LayerRequest& r = layer.requests[i];
      begins_.push_back(r.sector - offset);
      exact_[{r.is_write, begins_[i], r.sectors}].push_back(i);
      by_sector_[r.is_write ? 1 : 0].emplace(begins_[i], i);
    }
  }

  std::optional<size_t> take_same(const LayerRequest& r) {
    const auto found = exact_.find({r.is_write, r.sector, r.sectors});
    if (found == exact_.end()) return std::nullopt;
    while (!found->second.empty() && too_early(found->second.front(), r)) found->second.pop_front();
    if (found->second.empty()) return std::nullopt;
    const size_t index = found->second.front();
    found->second.pop_front();
    claimed_[index] = true;
    return index;
  }

  /// Several requests may be joined into one: it stays in the pool for the others.
  bool is_part_of_larger(const LayerRequest& r) {
    const auto& lower = by_sector_[r.is_write ? 1 : 0];
    size_t looked = 0;
    for (auto at = lower.upper_bound(r.sector); at != lower.begin() && looked < kMaxLooked; ++looked) {
      --at;
      const uint64_t into = r.sector - at->first;
      const uint64_t size = layer_.requests[at->second].sectors;
      if (size <= r.sectors || into >= size || size - into < r.sectors) continue;
      claimed_[at->second] = true;
      return true;
    }
    return false;
  }

  bool take_pieces(const LayerRequest& r) {
    const auto& lower = by_sector_[r.is_write ? 1 : 0];
    std::vector<size_t> pieces;
    uint64_t at = r.sector;
    const uint64_t end = r.sector + r.sectors;
    while (at < end) {
      if (pieces.size() >= kMaxPieces) return false;
      const auto [first, last] = lower.equal_range(at);
      auto piece = first;
      size_t looked = 0;
      while (piece != last && looked < kMaxLooked && (claimed_[piece->second] || layer_.requests[piece->second].sectors > end - at)) {
        ++piece;
        ++looked;
      }
      if (piece == last || looked == kMaxLooked) return false;
      if (layer_.requests[piece->second].sectors == 0) return false;
      pieces.push_back(piece->second);
      at += layer_.requests[piece->second].sectors;
    }
    for (const size_t index : pieces) claimed_[index] = true;
    return true;
  }

  [[nodiscard]] uint64_t unclaimed() const {
    return static_cast<uint64_t>(std::count(claimed_.begin(), claimed_.end(), false));
  }

 private:
  /// Stamps of two threads can be swapped by some microseconds.
  static constexpr uint64_t kSlackNs = 100'000;
  [[nodiscard]] bool too_early(size_t index, const LayerRequest& upper) const {
    const uint64_t at_ns = layer_.requests[index].time_ns;
    return clocks_ == LayerClocks::kOne && at_ns < upper.time_ns && upper.time_ns - at_ns > kSlackNs;
  }

  static constexpr size_t kMaxLooked = 256;   // a forged file may have any number at one sector
  static constexpr size_t kMaxPieces = 512;   // of 4 KiB: 2 MiB

  const Layer& layer_;
  LayerClocks clocks_;
  std::vector<bool> claimed_;
  std::vector<uint64_t> begins_;
  std::map<std::tuple<bool, uint64_t, uint64_t>, std::deque<size_t>> exact_;
  std::array<std::multimap<uint64_t, size_t>, 2> by_sector_;
};

int64_t difference(uint64_t a, uint64_t b) noexcept { return static_cast<int64_t>(a - b); }

}  // namespace

LayerPattern::LayerPattern(const Layer& layer) {
  std::array<std::optional<uint64_t>, 2> next;
  for (const LayerRequest& r : layer.requests) {
    ++(r.is_write ? writes : reads);
    sectors += r.sectors;
    ++sizes[r.sectors];
    auto& expected = next[r.is_write ? 1 : 0];
    if (expected == r.sector) ++sequential;
    expected = r.sector + r.sectors;
  }
}

LayerMatch match_layers(const Layer& upper, const Layer& lower, LayerClocks clocks, int64_t lower_offset_sectors) {
  LayerMatch match;
  Pool pool(lower, clocks, lower_offset_sectors);
  std::vector<const LayerRequest*> rest;
  std::vector<int64_t> differences_ns;
  std::optional<size_t> furthest;
  for (const LayerRequest& r : upper.requests) {
    const auto index = pool.take_same(r);
    if (!index) {
      rest.push_back(&r);
      continue;
    }
    ++match.same;
    if (furthest && *index < *furthest) ++match.reordered;
    furthest = std::max(furthest.value_or(0), *index);
    differences_ns.push_back(difference(lower.requests[*index].time_ns, r.time_ns));
  }
  for (const LayerRequest* r : rest) {
    if (pool.is_part_of_larger(*r)) {
      ++match.joined;
    } else if (pool.take_pieces(*r)) {
      ++match.split;
    } else {
      ++match.missing;
    }
  }
  match.extra = pool.unclaimed();
  if (!differences_ns.empty()) {
    match.least_difference_ns = *std::min_element(differences_ns.begin(), differences_ns.end());
    for (const int64_t ns : differences_ns)
      match.delays_ns.push_back(static_cast<uint64_t>(ns) - static_cast<uint64_t>(match.least_difference_ns));
  }
  return match;
}

}  // namespace qperf::qemutrace
