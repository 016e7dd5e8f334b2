#pragma once

#include <vector>

#include "analysis/profile_capture.h"
#include "report/comparison.h"
#include "report/row.h"

namespace qperf::tools {

/// The weights that do not distinguish groups: each stack's by vCPU.
[[nodiscard]] std::vector<report::Row> rows_of(const analysis::CaptureProfile& profile);

/// The capture as one run of a comparison. `value_per_weight`: report::Run.
[[nodiscard]] report::Run run_of(const analysis::CaptureProfile& profile, double value_per_weight);

/// What makes the capture's weights percent of their sum.
[[nodiscard]] double percent_per_weight(const analysis::CaptureProfile& profile) noexcept;

}  // namespace qperf::tools
