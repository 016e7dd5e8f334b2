#include <CLI/CLI.hpp>

#include <cstdio>
#include <exception>

#include "tools/qperf/command.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

/// Every subcommand, in the order of the help text.
constexpr AddCommand kCommands[] = {
    add_trace_command,
};

int run(int argc, char** argv) {
  CLI::App app("Profile operating-system kernels under QEMU, and see what QEMU's devices did meanwhile.", "qperf");
  app.set_version_flag("--version", "qperf " QPERF_VERSION);
  app.require_subcommand(1);
  app.footer(
      "Exit codes: 0 done, 1 failed, 2 wrong usage, 3 done but data is incomplete.\n"
      "Examples:\n"
      "  qperf trace print trace-1234         what QEMU's devices did, in order\n"
      "'qperf COMMAND --help' describes a command.");
  Action action;
  for (const AddCommand add : kCommands) add(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    return app.exit(asked, std::cout, std::cerr);
  } catch (const CLI::ParseError& wrong) {
    return report_error(Error{ErrorCode::kUsage, std::string(wrong.what()) + "; see --help"});
  }
  return action ? action() : kUsage;
}

}  // namespace
}  // namespace qperf::tools

int main(int argc, char** argv) {
  // Foreign libraries may throw (out of memory, a bad locale); nothing of ours does.
  try {
    return qperf::tools::run(argc, argv);
  } catch (const std::exception& failure) {
    return qperf::tools::report_error(qperf::Error{qperf::ErrorCode::kIo, failure.what()});
  }
}
