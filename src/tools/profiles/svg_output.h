#pragma once

#include <string_view>

#include "analysis/message.h"
#include "analysis/sched_view.h"
#include "export/svg.h"
#include "export/text_sink.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

/// What an SVG picture says beside its frames.
struct SvgInput {
  std::string_view name;  // of the capture, without its folders
  const analysis::CaptureInput& capture;
  const analysis::Messages& warnings;
};

/// Where the capture's time went. `stacks`: whether they have tasks as root frames.
void write_svg_profile(const SvgInput& input, const profile::NamedStacks& names, const profile::WeightTable& weights,
                       exporter::SvgStacks stacks, exporter::TextSink& sink);

/// Where tasks waited, in nanoseconds; `sched` has been replayed.
void write_svg_off_cpu(const SvgInput& input, const analysis::SchedView& sched, exporter::TextSink& sink);

/// A picture of that capture without frames yet: title, subtitle, notes.
[[nodiscard]] exporter::SvgPicture svg_frame(const SvgInput& input);

}  // namespace qperf::tools
