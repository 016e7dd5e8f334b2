#pragma once

#include "tools/qperf/command.h"

namespace qperf::tools {

/// What `qperf` says of itself.
inline constexpr const char* kAbout = "Profile operating-system kernels under QEMU, and see what QEMU's devices did meanwhile.";

/// Makes `app` the whole command line of `qperf`: the program, its completion and its man pages are made from this.
void add_commands(CLI::App& app, Action& action);

}  // namespace qperf::tools
