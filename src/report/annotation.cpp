#include "report/annotation.h"

#include <algorithm>
#include <map>
#include <utility>

namespace qperf::report {

using profile::FrameId;
using profile::LocationId;
using profile::SourceLine;
using profile::saturating_add;

std::span<const SourceLine> lines_at(const profile::LocatedProfile& located, LocationId location, Depth depth) {
  const auto lines = located.locations.lines(location);
  return depth == Depth::kLeafOnly ? lines.first(1) : lines;
}

Annotation annotate(std::span<const FrameId> functions, const profile::LocatedProfile& located, Depth depth) {
  struct Seen {
    uint64_t self = 0;
    uint64_t total = 0;
    size_t counted_in = 0;  // the last row that added to the total, from 1
  };
  Annotation result;
  std::map<std::pair<FrameId, uint32_t>, Seen> lines;
  std::map<std::pair<std::optional<uint32_t>, GuestVa>, uint64_t> addresses;
  const auto is_wanted = [&](FrameId frame) { return std::ranges::find(functions, frame) != functions.end(); };
  for (size_t i = 0; i < located.rows.size(); ++i) {
    const profile::LocatedRow& row = located.rows[i];
    result.whole = saturating_add(result.whole, row.weight);
    bool inside = false;
    bool leaf = true;
    for (const LocationId location : located.stacks[row.stack]) {
      for (const SourceLine& source : lines_at(located, location, depth)) {
        const bool is_leaf = std::exchange(leaf, false);
        if (!is_wanted(source.frame)) continue;
        inside = true;
        Seen& line = lines[{source.frame, source.line}];
        if (std::exchange(line.counted_in, i + 1) != i + 1) line.total = saturating_add(line.total, row.weight);
        if (!is_leaf) continue;
        line.self = saturating_add(line.self, row.weight);
        result.self = saturating_add(result.self, row.weight);
        const profile::Location& place = located.locations[location];
        uint64_t& at = addresses[{place.image, place.address}];
        at = saturating_add(at, row.weight);
      }
    }
    if (inside) result.total = saturating_add(result.total, row.weight);
  }
  for (const auto& [key, seen] : lines)
    result.lines.push_back({.frame = key.first, .line = key.second, .self = seen.self, .total = seen.total});
  for (const auto& [key, self] : addresses) result.addresses.push_back({.image = key.first, .address = key.second, .self = self});
  return result;
}

}  // namespace qperf::report
