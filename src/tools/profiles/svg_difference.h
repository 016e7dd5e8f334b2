#pragma once

#include <span>
#include <string>
#include <vector>

#include "report/comparison.h"
#include "tools/profiles/svg_output.h"

namespace qperf::tools {

/// What is compared in a picture. Stacks of all runs are in `names`.
struct SvgSides {
  const profile::NamedStacks& names;
  std::span<const report::Run> before;
  std::span<const report::Run> after;
  std::string value_unit;             // of the runs' values: "%"
  std::string_view before_name;       // of the older capture, without its folders
  std::vector<report::Row> drawn;     // what frames are as wide as: the new side's weights
  exporter::Unit drawn_unit;
  exporter::SvgStacks stacks = exporter::SvgStacks::kFunctions;
};

/// A flame graph of the new side whose colours show each frame's inclusive change beyond the noise; functions are matched as
/// `qperf diff` does. `input` describes the new side.
void write_svg_difference(const SvgInput& input, const SvgSides& sides, exporter::TextSink& sink);

}  // namespace qperf::tools
