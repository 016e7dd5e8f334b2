#include <CLI/CLI.hpp>

#include <exception>
#include <iostream>

#include "tools/qperf/commands.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

int run(int argc, char** argv) {
  CLI::App app(kAbout, "qperf");
  Action action;
  add_commands(app, action);
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {  // --help, --version
    const int code = app.exit(asked, std::cout, std::cerr);
    if (!std::cout.flush()) return report_error(Error{ErrorCode::kIo, "standard output: cannot be written"});
    return code;
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
