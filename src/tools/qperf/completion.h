#pragma once

#include <string>

#include "tools/qperf/describe.h"

namespace qperf::tools {

/// A script that teaches bash the words of `program`; to be sourced.
[[nodiscard]] std::string bash_completion(const CommandDescription& program);

/// The same for zsh; to be sourced, or put as `_qperf` into a folder of $fpath.
[[nodiscard]] std::string zsh_completion(const CommandDescription& program);

}  // namespace qperf::tools
