#pragma once

#include "export/html_report.h"
#include "profile/binned_weights.h"
#include "profile/frame_table.h"
#include "tools/profiles/host_view.h"
#include "tools/profiles/html_frames.h"
#include "tools/profiles/html_output.h"

namespace qperf::tools {

/// Lanes of the host's threads, and the tree of what they were sampled doing, on the report's axis of time. `sums`: of the host, in bins
/// that are no longer than the report's.
void add_host(const HostView& view, const profile::BinnedWeights& sums, const profile::NamedStacks& names, const HtmlLimits& limits, HtmlFrames& frames,
              exporter::HtmlReport& report);

}  // namespace qperf::tools
