#pragma once

#include <string>
#include <vector>

#include "analysis/message.h"
#include "analysis/profile_capture.h"

namespace qperf::analysis {

/// What was read, selected and lost, as lines of text without line breaks, for a person.
[[nodiscard]] std::vector<std::string> report_lines(const CaptureProfile& profile);

/// A warning for each thing that weakens the result: losses, damage, missing stacks, unknown addresses, an empty selection.
[[nodiscard]] Messages weaknesses(const CaptureProfile& profile);

/// Why two captures cannot be compared fully: other vCPUs, other arguments, another machine.
[[nodiscard]] Messages differences_between(const CaptureInput& before, const CaptureInput& after);

}  // namespace qperf::analysis
