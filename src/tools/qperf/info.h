#pragma once

#include <string>

#include "analysis/capture_census.h"

namespace qperf::tools {

/// What `qperf info` prints of a capture, for a person.
[[nodiscard]] std::string info_text(const analysis::CaptureCensus& census);

/// The same as JSON: docs/json.md, "qperf info".
[[nodiscard]] std::string info_json(const analysis::CaptureCensus& census);

}  // namespace qperf::tools
