#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/report.h"
#include "analysis/units.h"
#include "base/printable.h"
#include "export/output_file.h"
#include "tools/profiles/recorded_elf.h"
#include "tools/profiles/short_names.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/command.h"
#include "tools/qperf/export_format.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/with_host.h"
#include "tools/qperf/with_trace.h"

namespace qperf::tools {
namespace {

struct ExportOptions {
  CaptureOptions capture;
  std::string format;
  std::string output = "-";
  bool off_cpu = false;
  std::string baseline;
  std::vector<std::string> baseline_elfs;
  WithTraceText trace;
  std::string host;
};

Result<const ExportFormat*> find_format(std::string_view name) {
  std::string known;
  for (const ExportFormat* format : export_formats()) {
    if (format->name == name) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format->name);
  }
  return Error{ErrorCode::kUsage, fmt::format("--format '{}': not known: {}", printable(name), known)};
}

std::string formats_that(bool (*can)(const ExportFormat&)) {
  std::string list;
  for (const ExportFormat* format : export_formats())
    if (can(*format)) list += fmt::format("{}{}", list.empty() ? "" : ", ", format->name);
  return list;
}

Result<void> check_format_can(const ExportOptions& options, const ExportFormat& format) {
  const auto refuse = [&](std::string_view option, bool (*can)(const ExportFormat&)) {
    return Error{ErrorCode::kUsage, fmt::format("{}: not with --format {}: {}", option, format.name, formats_that(can))};
  };
  if (options.off_cpu && format.write_off_cpu == nullptr)
    return refuse("--off-cpu", [](const ExportFormat& other) { return other.write_off_cpu != nullptr; });
  if (!options.baseline.empty() && options.off_cpu)
    return Error{ErrorCode::kUsage, "--baseline: not with --off-cpu: what tasks waited for can be compared with `qperf stat --json` of both"};
  if (!options.baseline.empty() && !format.compares)
    return refuse("--baseline", [](const ExportFormat& other) { return other.compares; });
  if (options.baseline.empty() && !options.baseline_elfs.empty())
    return Error{ErrorCode::kUsage, "--baseline-elf: there is no --baseline"};
  const bool draws_time = format.draws_time && !options.off_cpu;
  if (options.trace.given() && !draws_time) return refuse("--with-trace", [](const ExportFormat& other) { return other.draws_time; });
  if (!options.host.empty() && !draws_time) return refuse("--with-host", [](const ExportFormat& other) { return other.draws_time; });
  return check_with_trace(options.trace);
}

/// The same part of the older capture.
Result<std::unique_ptr<LoadedCapture>> load_baseline(const ExportOptions& options, const LoadedCapture& current, const LoadNeeds& needs,
                                                     profile::NamedStacks& names) {
  CaptureOptions older = options.capture;
  older.path = options.baseline;
  if (!options.baseline_elfs.empty()) older.selection.elfs = options.baseline_elfs;
  QPERF_ASSIGN_OR_RETURN(auto loaded, load_capture(older, {.detail = needs.detail, .label_samples = needs.label_samples}, names));
  const analysis::CaptureInput& input = loaded.profile.input;
  if (analysis::weight_unit(input) != analysis::weight_unit(current.profile.input))
    return Error{ErrorCode::kUsage, fmt::format("--baseline: {} was recorded with {}, {} with {}: only captures of one mode can be compared",
                                                input.path, analysis::describe_mode(input), options.capture.path,
                                                analysis::describe_mode(current.profile.input))};
  print_warnings(loaded);
  for (const auto& message : analysis::differences_between(input, current.profile.input)) report_warning(printable(message.text));
  return std::make_unique<LoadedCapture>(std::move(loaded));
}

Result<int> run(const ExportOptions& options) {
  QPERF_ASSIGN_OR_RETURN(const ExportFormat* format, find_format(options.format));
  QPERF_RETURN_IF_ERROR(check_format_can(options, *format));
  std::vector<std::string> inputs{options.capture.path, options.baseline, options.host};
  for (const auto& elf : options.capture.selection.elfs) inputs.push_back(analysis::parse_elf_argument(elf).path);
  for (const auto& elf : options.baseline_elfs) inputs.push_back(analysis::parse_elf_argument(elf).path);
  QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten(inputs, {options.output}));

  profile::NamedStacks names;
  const LoadNeeds needs = options.off_cpu ? LoadNeeds{.replay = true} : format->needs;
  QPERF_ASSIGN_OR_RETURN(const LoadedCapture capture, load_capture(options.capture, needs, names));
  QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(capture.profile.input, {options.output}));
  print_warnings(capture);
  QPERF_ASSIGN_OR_RETURN(const auto host, load_with_host(options.host, capture, names));
  std::unique_ptr<LoadedCapture> baseline;
  if (!options.baseline.empty()) {
    QPERF_ASSIGN_OR_RETURN(baseline, load_baseline(options, capture, needs, names));
    QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(baseline->profile.input, {options.output}));
  }
  if (host) QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(host->capture.profile.input, {options.output}));
  QPERF_ASSIGN_OR_RETURN(const auto trace, load_with_trace(options.trace, capture));
  if (trace) QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten({trace->path, options.trace.events}, {options.output}));
  if (trace && trace->traced.trace.requests.empty()) report_warning(fmt::format("{}: {}", printable(trace->path), kNoRequests));
  const int traced = trace ? trace->conclude() : kDone;
  const auto [name, baseline_name] = short_names(options.capture.path, options.baseline);
  std::optional<ProgressLine> progress;  // not into the output
  if (options.output != "-" || ::isatty(STDOUT_FILENO) == 0) progress.emplace(options.capture.path, STDERR_FILENO);
  const ExportInput input{.name = name,
                          .names = names,
                          .capture = capture,
                          .baseline = baseline.get(),
                          .baseline_name = baseline_name,
                          .devices = trace ? &trace->view : nullptr,
                          .host = host.get(),
                          .progress = progress ? &*progress : nullptr,
                          .by_task = options.capture.selection.group_by_task};
  QPERF_ASSIGN_OR_RETURN(const auto file, exporter::OutputFile::create(options.output));
  QPERF_RETURN_IF_ERROR(options.off_cpu ? format->write_off_cpu(input, *file) : format->write(input, *file));
  QPERF_RETURN_IF_ERROR(file->commit());
  if (baseline && baseline->exit_code() != kDone) return baseline->exit_code();
  if (host && host->capture.exit_code() != kDone) return host->capture.exit_code();
  return capture.exit_code() != kDone ? int{capture.exit_code()} : traced;
}

std::string format_list() {
  std::string list = "Formats:\n";
  for (const ExportFormat* format : export_formats()) list += fmt::format("  {:<12}{}\n", format->name, format->summary);
  return list;
}

}  // namespace

void add_export_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("export", "write a capture's profile in a format that viewers read");
  auto options = std::make_shared<ExportOptions>();
  add_capture_options(*command, options->capture);
  command->add_option("--format", options->format, "one of those below")->type_name("FORMAT")->required();
  command->add_option("-o,--output", options->output, "where to [standard output]")->type_name("OUT");
  command->add_flag("--group-by-task", options->capture.selection.group_by_task,
                    "a root frame (speedscope: a profile) for each task; needs a capture made with trace=");
  command->add_flag("--off-cpu", options->off_cpu,
                    "where tasks waited, in nanoseconds, instead of where they ran: folded, speedscope, pprof, svg; needs trace= too");
  command->add_option("--baseline", options->baseline, "an older capture: what changed since then (pprof, svg, html)")->type_name("OLD");
  command->add_option("--baseline-elf", options->baseline_elfs, "its ELF, if not --elf's")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  add_with_trace_options(*command, options->trace, "lanes for QEMU's devices too, from its own trace of the run: perfetto, chrome, html");
  add_with_host_option(*command, options->host);
  command->footer(format_list() +
                  "Examples:\n"
                  "  qperf export qperf.bin --format svg -o kernel.svg\n"
                  "  qperf export new.bin --format svg --baseline old.bin -o changes.svg\n"
                  "  qperf export qperf.bin --format folded | flamegraph.pl > kernel.svg\n"
                  "  qperf export qperf.bin -e vmlinux --format speedscope -o kernel.speedscope.json\n"
                  "  qperf export qperf.bin --format folded --phase boot --cpu 0 -o boot.folded\n"
                  "  qperf export qperf.bin --format html --with-trace auto -o run.html\n"
                  "  qperf export qperf.bin --format perfetto --with-host host.qperf -o run.perfetto-trace\n"
                  "  qperf export qperf.bin --format pprof -o kernel.pb.gz && go tool pprof -http : kernel.pb.gz\n"
                  "  qperf export qperf.bin --format folded --off-cpu | flamegraph.pl --countname ns > waits.svg");
  command->callback([&action, options] {
    action = [options] {
      const auto code = run(*options);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
