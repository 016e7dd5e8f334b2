#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"
#include "profile/ids.h"
#include "profile/sequence_table.h"

namespace qperf::profile {

/// A distinct address of one LocationTable; dense from 0.
struct LocationId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(LocationId, LocationId) = default;
};

/// A function at one of its lines, in the file of its frame.
struct SourceLine {
  FrameId frame;
  uint32_t line = 0;  // executed or called from; 0: not known
  friend constexpr bool operator==(SourceLine, SourceLine) = default;
};

/// One entry of a stack: an instruction, and the source lines it belongs to.
struct Location {
  /// Index in LocatedProfile::images; nullopt: no ELF has the address.
  std::optional<uint32_t> image;
  /// The block's first instruction, or for a caller the last byte of its call; link-time in an image, else run-time.
  GuestVa address;
};

/// Locations with their lines. Grows with distinct addresses.
class LocationTable {
 public:
  /// `lines`: innermost inlined function first, the physical function last; never empty.
  LocationId add(Location location, std::span<const SourceLine> lines) {
    locations_.push_back(location);
    lines_.insert(lines_.end(), lines.begin(), lines.end());
    line_ends_.push_back(lines_.size());
    return LocationId{static_cast<uint32_t>(locations_.size() - 1)};
  }
  [[nodiscard]] const Location& operator[](LocationId id) const noexcept { return locations_[id.raw]; }
  /// Innermost first.
  [[nodiscard]] std::span<const SourceLine> lines(LocationId id) const noexcept {
    const size_t begin = id.raw == 0 ? 0 : line_ends_[id.raw - 1];
    return std::span(lines_).subspan(begin, line_ends_[id.raw] - begin);
  }
  [[nodiscard]] size_t size() const noexcept { return locations_.size(); }

 private:
  std::vector<Location> locations_;
  std::vector<SourceLine> lines_;
  std::vector<size_t> line_ends_;
};

/// An ELF that locations lie in.
struct LocatedImage {
  std::string path;
  std::vector<std::byte> build_id;  // empty: none
  GuestRange text;                  // link-time, all executable parts and what lies between
};

/// What one vCPU spent in one located stack under one root.
struct LocatedRow {
  static constexpr uint32_t kNoRoot = std::numeric_limits<uint32_t>::max();

  VcpuIndex vcpu;
  uint32_t root = kNoRoot;  // a number that whoever chose the samples gave them
  StackId stack;
  uint64_t weight = 0;
  uint64_t samples = 0;
};

/// A profile by address and line, for what needs more than functions. The frames of its lines are in the FrameTable that it
/// was made with. Its weights add up to those of the profile by function.
struct LocatedProfile {
  LocationTable locations;
  SequenceTable<LocationId> stacks;  // leaf first
  std::vector<LocatedImage> images;
  std::vector<LocatedRow> rows;  // one per (vCPU, root, stack), in order of first sight
};

}  // namespace qperf::profile
