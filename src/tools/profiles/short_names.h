#pragma once

#include <string>
#include <string_view>
#include <utility>

namespace qperf::tools {

/// What two files are called beside each other: without their folders, but for those that tell them apart.
[[nodiscard]] std::pair<std::string, std::string> short_names(const std::string& first, const std::string& second);

/// "a.bin", "a.bin and 1 more run", "a.bin and 2 more runs".
[[nodiscard]] std::string with_more_runs(std::string_view name, size_t runs);

}  // namespace qperf::tools
