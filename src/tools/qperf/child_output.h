#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace qperf::tools {

/// Runs a program, found in PATH, and returns what it writes to its standard output. No shell is involved; its standard input is
/// empty and its messages are dropped. Error: kNotFound if there is no such program, kLimit if it writes more than `most_bytes`,
/// kIo if it fails.
[[nodiscard]] Result<std::string> child_output(const std::vector<std::string>& arguments, size_t most_bytes);

}  // namespace qperf::tools
