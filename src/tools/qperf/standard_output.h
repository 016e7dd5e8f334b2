#pragma once

#include <string_view>

namespace qperf::tools {

/// Writes a whole result to standard output and returns the exit code. A reader that closed its end early is no failure.
int write_out(std::string_view text);

}  // namespace qperf::tools
