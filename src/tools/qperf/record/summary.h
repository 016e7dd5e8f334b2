#pragma once

#include <string>

#include "base/result.h"

namespace qperf::tools {

/// The ten functions that a capture was in most often, with what was lost and the commands that say more, as lines for stderr.
/// Errors: the capture cannot be read.
[[nodiscard]] Result<std::string> summarize(const std::string& capture);

}  // namespace qperf::tools
