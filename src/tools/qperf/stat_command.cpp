#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <limits>
#include <memory>
#include <string_view>
#include <vector>

#include "analysis/report.h"
#include "base/json_quoted.h"
#include "guest/trace_events.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/stat_tables.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/timehist.h"

namespace qperf::tools {
namespace {

constexpr size_t kUsualTop = 20;

struct StatOptions {
  CaptureOptions capture;
  bool timehist = false;
  bool json = false;
  size_t top = kUsualTop;
};

/// The columns of perf sched timehist, and why the task had waited and left.
Table timehist_table(const analysis::SchedView& sched, const Timehist& history) {
  Table table({{"Until s", "until_ns"},
               {"vCPU", "vcpu"},
               {"Task", "task", true},
               {"Blocked ms", "blocked_ns"},
               {"Delay ms", "runnable_ns"},
               {"Ran ms", "ran_ns"},
               {"Then", "then", true},
               {"Had waited for", "waited_for", true},
               {"", "certain"}});
  const auto& labels = sched.replayed().tasks().labels();
  for (const TimehistRow& row : history.rows()) {
    const std::string& label = labels.text(row.label);
    if (sched.window().overlap_ns(row.vcpu, row.from_ns, row.to_ns) == 0 || !sched.wants(label)) continue;
    std::string reason = row.has_reason ? guest::wait_reason_name(row.reason) : "";
    if (!row.certain) reason += reason.empty() ? "[uncertain]" : " [uncertain]";
    table.add({cell_time(row.to_ns, 0), cell(row.vcpu.raw), cell_text(label), cell_ms(row.blocked_ns), cell_ms(row.runnable_ns),
               cell_ms(row.to_ns - row.from_ns), cell_text(departure_name(row.ended_by)),
               {reason, row.has_reason ? json_quoted(guest::wait_reason_name(row.reason)) : "null"}, {"", row.certain ? "true" : "false"}});
  }
  return table;
}

std::string timehist_json(const LoadedCapture& capture, const Table& table) {
  JsonObject out;
  out.raw("format", json_quoted("qperf-timehist"));
  out.add("version", cell(1));
  out.raw("file", json_quoted(capture.profile.input.path));
  out.raw("complete", capture.exit_code() == kDone ? "true" : "false");
  out.raw("switches", table.json());
  return out.text();
}

std::string tables_text(const LoadedCapture& capture, size_t top, bool by_task) {
  const analysis::SchedView& sched = *capture.sched;
  std::string out = analysis::headline(capture.profile.input) + '\n';
  std::vector<Table> tables{latency_table(sched), reason_table(sched)};
  // What vCPUs, queues and resources saw is not told apart by task.
  if (!by_task) tables = {latency_table(sched), vcpu_table(sched), queue_table(sched), reason_table(sched), resource_table(sched, top)};
  for (const Table& table : tables)
    if (!table.empty()) out += '\n' + table.text(stdout_colours());
  return out;
}

Result<int> stat(const StatOptions& options) {
  Timehist history;
  LoadNeeds needs;
  needs.replay = true;
  if (options.timehist) needs.listener = &history;
  profile::NamedStacks names;
  QPERF_ASSIGN_OR_RETURN(const LoadedCapture capture, load_capture(options.capture, needs, names));
  std::string out;
  if (options.timehist) {
    const Table table = timehist_table(*capture.sched, history);
    out = options.json ? timehist_json(capture, table) : table.text(stdout_colours());
  } else {
    out = options.json ? capture.sched->statistics_json() : tables_text(capture, options.top, !options.capture.selection.task.empty());
  }
  const int written = write_out(out);
  print_warnings(capture);
  if (history.left_out() != 0)
    report_warning(fmt::format("{} switches beyond the first {} are not shown: choose a part with --from and --until", history.left_out(),
                               Timehist::kMaxRows));
  return written != kDone ? written : capture.exit_code();
}

}  // namespace

void add_stat_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("stat", "what tasks and vCPUs did: run times, delays, run queues, locks and other waits");
  auto options = std::make_shared<StatOptions>();
  add_capture_options(*command, options->capture);
  command->add_flag("--timehist", options->timehist, "instead: each stay of a task on a vCPU, in order of their ends");
  command->add_option("--top", options->top, "resources to show, 0 for all [20]")->type_name("N");
  command->add_flag("--json", options->json, "print JSON (docs/json.md); everything, whatever --top says");
  command->footer(
      "Needs a capture with trace events (trace=). With --task: the tables of tasks only. Delay is the time from a wake to the run\n"
      "that follows it. What a loss of events makes doubtful counts as uncertain (docs/off-cpu.md).\n"
      "Examples:\n"
      "  qperf stat qperf.bin\n"
      "  qperf stat --phase build -e vmlinux qperf.bin\n"
      "  qperf stat --timehist --task '^sh' qperf.bin\n"
      "  qperf stat --json qperf.bin | jq .resources");
  command->callback([&action, options] {
    if (options->top == 0) options->top = std::numeric_limits<size_t>::max();
    action = [options] {
      const auto code = stat(*options);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
