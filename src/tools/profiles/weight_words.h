#pragma once

#include <cstdint>

#include "analysis/capture_input.h"
#include "export/unit.h"

namespace qperf::tools {

/// What the capture's weights are, for people.
[[nodiscard]] exporter::Unit weight_words(const analysis::CaptureInput& input);

/// What weights are that analysis::weight_as_quantity() has turned into nanoseconds or instructions.
[[nodiscard]] exporter::Unit quantity_words(const analysis::CaptureInput& input);

/// Hz of ticks, or instructions of a period; 0: older captures have none.
[[nodiscard]] uint64_t rate_of(const analysis::CaptureInput& input) noexcept;

}  // namespace qperf::tools
