#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "profile/located.h"

namespace qperf::report {

/// How much of a located stack counts.
enum class Depth : uint8_t { kWhole, kLeafOnly };

/// The lines of a location that count, innermost first.
[[nodiscard]] std::span<const profile::SourceLine> lines_at(const profile::LocatedProfile& located, profile::LocationId location,
                                                            Depth depth);

/// The weight of one line of a function; 0: a line that is not known.
struct LineCost {
  profile::FrameId frame;
  uint32_t line = 0;
  uint64_t self = 0;
  uint64_t total = 0;  // once for each stack, however often the line is in it
};

/// The weight that was sampled in a function at one block's first instruction.
struct AddressCost {
  std::optional<uint32_t> image;
  GuestVa address;
  uint64_t self = 0;
};

/// One function's weight line by line and address by address. `self` is the sum of the lines' and that of the addresses'.
struct Annotation {
  std::vector<LineCost> lines;         // by frame and line
  std::vector<AddressCost> addresses;  // by image and address
  uint64_t self = 0;
  uint64_t total = 0;
  uint64_t whole = 0;  // of all stacks
};

/// `functions`: the frames that the function has.
[[nodiscard]] Annotation annotate(std::span<const profile::FrameId> functions, const profile::LocatedProfile& located, Depth depth);

}  // namespace qperf::report
