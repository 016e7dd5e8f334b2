#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report.h"
#include "analysis/units.h"
#include "base/json_quoted.h"
#include "base/printable.h"
#include "tools/qperf/report_devices.h"
#include "tools/qperf/report_input.h"
#include "tools/qperf/report_options.h"
#include "tools/qperf/report_tables.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

constexpr int kSchemaVersion = 1;

std::string as_text(const ReportInput& input, const report::Selected& selected, const ReportOptions& options,
                    const Table& buckets, const Table& table, const WithTrace* trace) {
  std::string out = analysis::headline(input.capture.profile.input) + '\n';
  if (options.off_cpu)
    out += fmt::format("time off the CPU: {} ns\n", profile::saturating_add(selected.weight, selected.left_out));
  else
    out += analysis::selection_line(input.capture.profile) + '\n';
  if (!buckets.empty() && !options.off_cpu) out += '\n' + buckets.text(stdout_colours());
  out += '\n' + table.text(stdout_colours());
  if (trace != nullptr) out += '\n' + devices_text(*trace, input.capture);
  return out;
}

std::string as_json(const ReportInput& input, const report::Selected& selected, const ReportOptions& options,
                    const Table& buckets, const Table& table, const WithTrace* trace) {
  const analysis::CaptureInput& capture = input.capture.profile.input;
  JsonObject out;
  out.raw("format", json_quoted("qperf-report"));
  out.add("version", cell(kSchemaVersion));
  out.raw("file", json_quoted(capture.path));
  out.raw("unit", json_quoted(input.unit));
  out.add("freq_hz", cell(capture.summary.header.freq_hz));
  out.add("period_insns", cell(capture.summary.header.period_insns));
  out.raw("complete", input.capture.exit_code() == kDone ? "true" : "false");
  out.add("total", cell(profile::saturating_add(selected.weight, selected.left_out)));
  out.add("left_out", cell(selected.left_out));
  out.raw("buckets", buckets.json());
  out.raw(rows_name(options), table.json());
  if (trace != nullptr) out.raw("devices", devices_json(*trace, input.capture));
  std::vector<std::string> warnings;
  for (const auto& message : input.capture.warnings()) warnings.push_back(message.text);
  out.add("warnings", cell_words(warnings));
  return out.text();
}

/// Says that there is more to see.
void name_recorded_trace(const LoadedCapture& capture) {
  const analysis::CaptureInput& input = capture.profile.input;
  if (const auto trace = recorded_trace(input.path, input.summary.metadata))
    fmt::print(stderr, "qperf: devices: this run has QEMU's trace {}: --with-trace {} shows its requests\n", printable(*trace), kRecordedTrace);
}

Result<int> report(const ReportText& typed) {
  QPERF_ASSIGN_OR_RETURN(const ReportOptions options, check_report(typed));
  QPERF_ASSIGN_OR_RETURN(ReportInput input, load_report(options));
  const report::Selected selected = report::select(options.selection, input.rows, input.names, input.searched);
  QPERF_ASSIGN_OR_RETURN(const Table table, report_table(input, selected, options));
  QPERF_ASSIGN_OR_RETURN(const auto trace, load_with_trace(options.trace, input.capture));
  const Table buckets = bucket_table(input.capture, input.capture.vcpus);
  std::string out;
  switch (options.output) {
    case ReportOutput::kText: out = as_text(input, selected, options, buckets, table, trace.get()); break;
    case ReportOutput::kCsv: out = table.csv(); break;
    case ReportOutput::kJson: out = as_json(input, selected, options, buckets, table, trace.get()); break;
  }
  const int written = write_out(out);
  print_warnings(input.capture);
  const int traced = trace ? trace->conclude() : kDone;
  if (options.output == ReportOutput::kText && !trace) name_recorded_trace(input.capture);
  if (written != kDone) return written;
  return input.capture.exit_code() != kDone ? int{input.capture.exit_code()} : traced;
}

void add_patterns(CLI::App& command, const char* name, std::vector<std::string>& into, const char* help) {
  command.add_option(name, into, help)->type_name("REGEX")->allow_extra_args(false);
}

}  // namespace

void add_report_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("report", "where a capture's time went: hot functions, call trees, tasks, phases");
  auto typed = std::make_shared<ReportText>();
  add_capture_options(*command, typed->capture);
  command->add_option("--by", typed->by, "rows are: function, file, line, task, cpu or phase [function]")->type_name("WHAT");
  command->add_flag("--tree", typed->tree, "the call tree, from the entry points down");
  command->add_option("--callers", typed->callers, "who called FUNCTION, and their callers")->type_name("FUNCTION");
  command->add_option("--callees", typed->callees, "what FUNCTION called")->type_name("FUNCTION");
  add_patterns(*command, "--focus", typed->focus, "only stacks with a function in which REGEX is found; several: all of them");
  add_patterns(*command, "--ignore", typed->ignore, "not stacks with a function in which REGEX is found");
  add_patterns(*command, "--hide", typed->hide, "take functions in which REGEX is found out of the stacks");
  command
      ->add_option("--percent-limit", typed->percent_limit,
                   "sum up rows below this share [0.5; with --csv and --json 0: all rows]")
      ->type_name("PERCENT");
  command->add_option("--sort", typed->sort, "order of a table: self, total or name [self]")->type_name("KEY");
  command->add_flag("--off-cpu", typed->off_cpu, "instead: where tasks were blocked and waited for a CPU, in nanoseconds");
  add_with_trace_options(*command, typed->trace, "also what QEMU's devices did, from its own trace of the run");
  command->add_flag("--csv", typed->csv, "print comma-separated values");
  command->add_flag("--json", typed->json, "print JSON (docs/json.md)");
  command->footer(
      "Self is the weight of stacks that end in a row, Total that of stacks with it anywhere, recursion counted once. A REGEX matches\n"
      "any part of a name: anchors ^ and $, (?i) at its start for any case.\n"
      "Examples:\n"
      "  qperf report qperf.bin\n"
      "  qperf report --tree --focus '^sys_' --percent-limit 2 qperf.bin\n"
      "  qperf report --callers memcpy -e vmlinux qperf.bin\n"
      "  qperf report --by phase qperf.bin\n"
      "  qperf report --off-cpu --with-trace auto qperf.bin\n"
      "  qperf report --off-cpu --by task --json qperf.bin | jq .tasks");
  command->callback([&action, typed] {
    action = [typed] {
      const auto code = report(*typed);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
