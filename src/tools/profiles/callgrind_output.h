#pragma once

#include "analysis/profile_capture.h"
#include "export/text_sink.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// Writes a callgrind.out file of a capture that was profiled with Detail::kLines.
void write_callgrind(const analysis::CaptureProfile& profile, const profile::FrameTable& frames, exporter::TextSink& sink);

}  // namespace qperf::tools
