#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/printable.h"
#include "export/output_file.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/command.h"
#include "tools/qperf/export_format.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

struct ExportOptions {
  CaptureOptions capture;
  std::string format;
  std::string output = "-";
};

Result<const ExportFormat*> find_format(std::string_view name) {
  std::string known;
  for (const ExportFormat* format : export_formats()) {
    if (format->name == name) return format;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", format->name);
  }
  return Error{ErrorCode::kUsage, fmt::format("--format '{}': not known: {}", printable(name), known)};
}

Result<int> run(const ExportOptions& options) {
  QPERF_ASSIGN_OR_RETURN(const ExportFormat* format, find_format(options.format));
  std::vector<std::string> inputs{options.capture.path};
  for (const auto& elf : options.capture.selection.elfs) inputs.push_back(analysis::parse_elf_argument(elf).path);
  QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten(inputs, {options.output}));

  profile::NamedStacks names;
  QPERF_ASSIGN_OR_RETURN(const LoadedCapture capture, load_capture(options.capture, format->needs, names));
  print_warnings(capture);
  const std::string name = std::filesystem::path(options.capture.path).filename().string();
  const ExportInput input{
      .name = name, .names = names, .capture = capture, .by_task = options.capture.selection.group_by_task};
  QPERF_ASSIGN_OR_RETURN(const auto file, exporter::OutputFile::create(options.output));
  QPERF_RETURN_IF_ERROR(format->write(input, *file));
  QPERF_RETURN_IF_ERROR(file->commit());
  return capture.exit_code();
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
  command->footer(format_list() +
                  "Examples:\n"
                  "  qperf export qperf.bin --format folded | flamegraph.pl > kernel.svg\n"
                  "  qperf export qperf.bin -e vmlinux --format speedscope -o kernel.speedscope.json\n"
                  "  qperf export qperf.bin --format folded --phase boot --cpu 0 -o boot.folded");
  command->callback([&action, options] {
    action = [options] {
      const auto code = run(*options);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
