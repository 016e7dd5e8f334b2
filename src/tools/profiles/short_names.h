#pragma once

#include <string>
#include <utility>

namespace qperf::tools {

/// What two files are called beside each other: without their folders, but for those that tell them apart.
[[nodiscard]] std::pair<std::string, std::string> short_names(const std::string& first, const std::string& second);

}  // namespace qperf::tools
