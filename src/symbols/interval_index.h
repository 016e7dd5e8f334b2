#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

namespace qperf::symbols {

/// Answers "which range covers this address?"; where ranges overlap the one that starts last wins (the innermost), and among
/// those with one start the shortest, then the one of the greatest value. Add everything, then build() once, then find().
/// Ranges come from untrusted files and may overlap in any way: building costs n log n, finding log n.
class IntervalIndex {
 public:
  /// [begin, end); empty ranges are ignored.
  void add(uint64_t begin, uint64_t end, uint32_t value) {
    if (begin < end) ranges_.push_back({begin, end, value});
  }

  void build() {
    std::sort(ranges_.begin(), ranges_.end(), [](const Range& a, const Range& b) {
      if (a.begin != b.begin) return a.begin < b.begin;
      return a.end != b.end ? a.end > b.end : a.value < b.value;
    });
    std::vector<Range> open;  // those that may still cover something, innermost last
    std::vector<Range> disjoint;
    disjoint.reserve(ranges_.size());
    uint64_t position = 0;
    const auto emit_until = [&](uint64_t limit) {
      while (!open.empty() && position < limit) {
        const Range top = open.back();
        if (top.end <= position) {
          open.pop_back();
          continue;
        }
        const uint64_t end = std::min(top.end, limit);
        disjoint.push_back({position, end, top.value});
        position = end;
      }
    };
    for (const Range& range : ranges_) {
      emit_until(range.begin);
      position = range.begin;
      open.push_back(range);
    }
    emit_until(UINT64_MAX);
    disjoint.shrink_to_fit();
    ranges_ = std::move(disjoint);
  }

  [[nodiscard]] std::optional<uint32_t> find(uint64_t address) const noexcept {
    const auto after = std::upper_bound(ranges_.begin(), ranges_.end(), address,
                                        [](uint64_t a, const Range& range) { return a < range.begin; });
    if (after == ranges_.begin() || std::prev(after)->end <= address) return std::nullopt;
    return std::prev(after)->value;
  }

  [[nodiscard]] size_t size() const noexcept { return ranges_.size(); }

 private:
  struct Range {
    uint64_t begin;
    uint64_t end;
    uint32_t value;
  };
  std::vector<Range> ranges_;
};

}  // namespace qperf::symbols
