#pragma once

#include <functional>

namespace CLI {
class App;
}

namespace qperf::tools {

/// Exit codes of every program here; they are an interface.
enum ExitCode : int {
  kDone = 0,
  kFailed = 1,
  kUsage = 2,
  kIncomplete = 3,  // done, but data was lost, cut or unreadable
};

/// What the parsed command line asks for; set by the callback of the subcommand that was named.
using Action = std::function<int()>;

/// Adds one subcommand with its options and help to `app`, and on parsing sets `action`, which outlives the parser's callbacks.
using AddCommand = void (*)(CLI::App& app, Action& action);

void add_completion_command(CLI::App& app, Action& action);
void add_doctor_command(CLI::App& app, Action& action);
void add_export_command(CLI::App& app, Action& action);
void add_record_command(CLI::App& app, Action& action);
void add_top_command(CLI::App& app, Action& action);
void add_trace_command(CLI::App& app, Action& action);

}  // namespace qperf::tools
