#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "analysis/report.h"
#include "analysis/units.h"
#include "base/json_quoted.h"
#include "report/annotation.h"
#include "report/neighbours.h"
#include "tools/qperf/annotate_tables.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/report_input.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

struct AnnotateOptions {
  CaptureOptions capture;
  std::string function;
  std::string source;
  bool instructions = false;
  bool json = false;
};

std::string as_json(const LoadedCapture& capture, const std::string& function, const report::Annotation& annotation, const Table& lines,
                    const std::optional<InstructionTable>& instructions) {
  JsonObject out;
  out.raw("format", json_quoted("qperf-annotate"));
  out.add("version", cell(1));
  out.raw("file", json_quoted(capture.profile.input.path));
  out.raw("function", json_quoted(function));
  out.raw("unit", json_quoted(analysis::unit_name(analysis::weight_unit(capture.profile.input))));
  out.raw("complete", capture.exit_code() == kDone ? "true" : "false");
  out.add("self", cell(annotation.self));
  out.add("total", cell(annotation.total));
  out.add("whole", cell(annotation.whole));
  out.raw("lines", lines.json());
  out.raw("instructions", instructions ? instructions->table.json() : "null");
  out.raw("elsewhere", instructions ? std::to_string(instructions->elsewhere) : "null");
  return out.text();
}

std::string as_text(const LoadedCapture& capture, const std::string& function, const report::Annotation& annotation, const Table& lines,
                    const std::optional<InstructionTable>& instructions) {
  std::string out = analysis::headline(capture.profile.input) + '\n';
  out += fmt::format("{}: {} in it, {} with what it calls, of {} {}\n\n", function, annotation.self, annotation.total, annotation.whole,
                     analysis::unit_name(analysis::weight_unit(capture.profile.input)));
  out += lines.text(stdout_colours());
  if (instructions) out += "\nA sample stands at the first instruction of its block.\n" + instructions->table.text();
  return out;
}

Result<int> annotate(const AnnotateOptions& options) {
  profile::NamedStacks names;
  LoadNeeds needs;
  needs.detail = analysis::Detail::kLines;
  QPERF_ASSIGN_OR_RETURN(const LoadedCapture capture, load_capture(options.capture, needs, names));
  const profile::LocatedProfile& located = *capture.profile.located;
  QPERF_ASSIGN_OR_RETURN(const auto functions, report::frames_called(options.function, names.frames));
  const auto annotation = report::annotate(functions, located, report_depth(capture.profile.input));
  Sources sources(options.source);
  const Table lines = line_table(annotation, names.frames, sources);
  std::optional<InstructionTable> instructions;
  if (options.instructions) {
    QPERF_ASSIGN_OR_RETURN(instructions, instruction_table(annotation, located));
  }
  const std::string& name = names.frames[functions.front()].name;
  const int written = write_out(options.json ? as_json(capture, name, annotation, lines, instructions)
                                             : as_text(capture, name, annotation, lines, instructions));
  print_warnings(capture);
  return written != kDone ? written : capture.exit_code();
}

}  // namespace

void add_annotate_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("annotate", "a function's weight by source line and by instruction");
  auto options = std::make_shared<AnnotateOptions>();
  add_capture_options(*command, options->capture);
  command->add_option("FUNCTION", options->function, "its name as qperf report shows it; an inlined function is one too")->required();
  command->add_option("--source", options->source, "where the kernel's source tree is, if not where it was built")->type_name("FOLDER");
  command->add_flag("--instructions", options->instructions, "also by instruction; needs llvm-objdump");
  command->add_flag("--json", options->json, "print JSON (docs/json.md)");
  command->footer(
      "Lines need an ELF with DWARF. Self is the weight of stacks that end in a line, Total that of stacks with it anywhere.\n"
      "Examples:\n"
      "  qperf annotate qperf.bin do_sys_openat2 -e vmlinux --source ~/linux\n"
      "  qperf annotate --instructions qperf.bin memcpy");
  command->callback([&action, options] {
    action = [options] {
      const auto code = annotate(*options);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
