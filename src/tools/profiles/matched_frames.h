#pragma once

#include <vector>

#include "profile/frame_table.h"
#include "report/row.h"

namespace qperf::tools {

/// For each frame the one that stands for it where captures are compared place by place: those with one report::stable_name() are one
/// function, whatever their file and line. Of several that is one which `shown` has, so that files and lines are those of the new side.
[[nodiscard]] std::vector<profile::FrameId> matched_frames(const profile::NamedStacks& names, const std::vector<report::Row>& shown);

}  // namespace qperf::tools
