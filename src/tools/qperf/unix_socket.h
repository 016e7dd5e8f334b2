#pragma once

#include <string>

#include "base/result.h"

namespace qperf::tools {

/// Connects to a Unix stream socket; the descriptor is the caller's to close. Errors name the path.
[[nodiscard]] Result<int> connect_unix(const std::string& path);

}  // namespace qperf::tools
