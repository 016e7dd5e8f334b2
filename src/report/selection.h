#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "profile/frame_table.h"
#include "report/row.h"

namespace qperf::report {

/// Which stacks are looked at, by their frames' names, and which frames of them.
struct Selection {
  std::vector<Pattern> focus;   // each must be found in some frame of a stack, else the stack is left out
  std::vector<Pattern> ignore;  // a stack with a frame in which one is found is left out
  std::vector<Pattern> hide;    // frames in which one is found are taken out of the stacks that stay

  [[nodiscard]] bool everything() const noexcept { return focus.empty() && ignore.empty() && hide.empty(); }
};

/// The frame of a stack all of whose frames are hidden.
inline constexpr std::string_view kHiddenFrame = "[hidden]";

struct Selected {
  std::vector<Row> rows;
  uint64_t weight = 0;        // of `rows`
  uint64_t left_out = 0;      // by focus and ignore; `weight` + `left_out` is the weight of what was given
};

/// Stacks without their hidden frames are added to `names`. `searched`: what is searched for each frame, by FrameId; empty: its name.
[[nodiscard]] Selected select(const Selection& selection, std::span<const Row> rows, profile::NamedStacks& names,
                              std::span<const std::string> searched = {});

}  // namespace qperf::report
