#include "tools/qperf/commands.h"

#include <CLI/CLI.hpp>

namespace qperf::tools {
namespace {

/// Every subcommand, in the order of the help text.
constexpr AddCommand kCommands[] = {
    add_trace_command,
};

}  // namespace

void add_commands(CLI::App& app, Action& action) {
  app.set_version_flag("--version", "qperf " QPERF_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but data is incomplete.\n"
      "Examples:\n"
      "  qperf trace print trace-1234         what QEMU's devices did, in order\n"
      "'qperf COMMAND --help' describes a command.");
  for (const AddCommand add : kCommands) add(app, action);
}

}  // namespace qperf::tools
