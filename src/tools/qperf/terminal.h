#pragma once

#include <string_view>

#include "base/result.h"
#include "tools/qperf/command.h"

namespace qperf::tools {

/// Whether escape codes may go to this descriptor: a terminal, NO_COLOR unset or empty, TERM not "dumb".
[[nodiscard]] bool may_colour(int fd);

/// Prints "qperf: error: MESSAGE" to stderr and returns the exit code of the error's kind.
int report_error(const Error& error);

/// Prints "qperf: warning: MESSAGE" to stderr: the result stands, but something weakens it.
void report_warning(std::string_view message);

}  // namespace qperf::tools
