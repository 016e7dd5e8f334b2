#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "export/svg_layout.h"
#include "export/text_sink.h"
#include "export/unit.h"
#include "profile/call_tree.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// What the first frames of stacks are.
enum class SvgStacks : uint8_t {
  kFunctions,
  kTasks,   // a task, then functions
  kOffCpu,  // a task, its state, then why and where it waited
};

/// A frame's inclusive change, in the comparison's unit.
struct SvgChange {
  double before = 0;
  double after = 0;
  std::optional<double> noise = 0;  // a difference up to this is chance; nullopt: it cannot be told
};

struct SvgComparison {
  std::string unit;                // of the values: "%", "ms/s"
  std::string before;              // what the older side is called
  std::string what;                // is drawn and compared, for a line under the picture
  std::vector<SvgChange> changes;  // by node
};

/// A flame graph to be drawn. Texts are untrusted.
struct SvgPicture {
  std::string title;
  std::string subtitle;
  std::vector<std::string> notes;  // under the picture: what weakens it
  Unit unit;
  SvgStacks stacks = SvgStacks::kFunctions;
  profile::CallTree tree;
  std::vector<uint64_t> self;  // by node: what the frames are drawn by
  std::optional<SvgComparison> comparison;  // colours show it; without it they show kinds of frames
};

/// Writes one SVG file that needs nothing else: widths, names and tooltips are in the markup, a script of its own adds zoom and search
/// where a viewer runs scripts. No text of the picture comes near the script.
void write_svg(const profile::FrameTable& frames, const SvgPicture& picture, TextSink& sink, const SvgLimits& limits = {});

}  // namespace qperf::exporter
