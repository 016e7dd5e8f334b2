#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "profile/call_tree.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// A drawn frame. Its place is in weights, so that a viewer can zoom without rounding errors.
struct SvgBox {
  profile::NodeId node;
  uint32_t depth = 0;   // 0: the root above all stacks
  uint64_t from = 0;    // of the root's weight: what stands to its left
  uint64_t weight = 0;  // of the frame and what it called
};

/// What of a tree is drawn.
struct SvgLimits {
  double width_pixels = 1180;
  double least_pixels = 0.1;  // thinner frames are left out; twice that and so on where there would be too many
  size_t boxes = 20'000;
  uint32_t rows = 2048;
};

struct SvgLayout {
  std::vector<SvgBox> boxes;  // callers before callees, neighbours by name; the root is always there
  uint32_t rows = 1;
  uint64_t left_out = 0;      // frames that have weight and no box
  bool rows_cut = false;      // some of them since there would be more than SvgLimits::rows
  double least_pixels = 0;    // that was taken
};

/// `totals`: what each node and all below it weigh.
[[nodiscard]] SvgLayout svg_layout(const profile::CallTree& tree, const profile::FrameTable& frames, std::span<const uint64_t> totals,
                                   const SvgLimits& limits);

}  // namespace qperf::exporter
