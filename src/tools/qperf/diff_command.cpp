#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "base/printable.h"
#include "export/output_file.h"
#include "tools/profiles/recorded_elf.h"
#include "tools/qperf/diff_files.h"
#include "tools/qperf/diff_input.h"
#include "tools/qperf/diff_options.h"
#include "tools/qperf/diff_tables.h"
#include "tools/qperf/diff_text.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

int judge(const report::Comparison& comparison, const report::FrameKeys& keys, double percent) {
  constexpr size_t kNamed = 5;
  const std::vector<std::string> grown = grown_above(comparison, keys, percent);
  if (grown.empty()) return kDone;
  std::string text = fmt::format("--fail-above {}: grew by more", percent);
  for (size_t i = 0; i < grown.size() && i < kNamed; ++i) text += (i == 0 ? ": " : ", ") + grown[i];
  if (grown.size() > kNamed) text += fmt::format(" and {} more", grown.size() - kNamed);
  return report_error(Error{ErrorCode::kLimit, std::move(text)});
}

/// What is compared by place and not by function.
Result<void> write_file(DiffInput& input, DiffOutput format, exporter::TextSink& sink) {
  switch (format) {
    case DiffOutput::kTable:
    case DiffOutput::kJson: break;
    case DiffOutput::kFolded: write_diff_folded(input, sink); break;
    case DiffOutput::kSvg: write_diff_svg(input, sink); break;
    case DiffOutput::kPprof: return write_diff_pprof(input, sink);
    case DiffOutput::kHtml: return write_diff_html(input, sink);
  }
  return {};
}

Result<int> write(DiffInput& input, const DiffOptions& options, const report::Comparison& comparison, const report::FrameKeys& keys) {
  std::string text;
  if (options.format == DiffOutput::kTable)
    text = diff_text(input, options, comparison, keys, options.output == "-" ? stdout_colours() : Colours::kNone);
  if (options.format == DiffOutput::kJson) text = diff_json(input, options, comparison, keys);
  if (!text.empty() && options.output == "-") return write_out(text);
  QPERF_ASSIGN_OR_RETURN(const auto file, exporter::OutputFile::create(options.output));
  file->write(text);
  QPERF_RETURN_IF_ERROR(write_file(input, options.format, *file));
  QPERF_RETURN_IF_ERROR(file->commit());
  return kDone;
}

Result<void> check_output(const DiffOptions& options) {
  std::vector<std::string> inputs = options.before;
  inputs.insert(inputs.end(), options.after.begin(), options.after.end());
  for (const auto* selection : {&options.before_selection, &options.after_selection})
    for (const auto& elf : selection->elfs) inputs.push_back(analysis::parse_elf_argument(elf).path);
  return check_no_input_is_overwritten(inputs, {options.output});
}

Result<int> diff(const DiffText& typed) {
  QPERF_ASSIGN_OR_RETURN(const DiffOptions options, check_diff(typed));
  QPERF_RETURN_IF_ERROR(check_output(options));
  QPERF_ASSIGN_OR_RETURN(DiffInput input, load_diff(options));
  for (const auto* side : {&input.before_captures, &input.after_captures})
    for (const LoadedCapture& capture : *side) QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(capture.profile.input, {options.output}));
  const report::FrameKeys keys = report::keys_by_stable_name(input.names.frames);
  const report::Comparison comparison = report::compare(input.before, input.after, keys, input.names);
  QPERF_ASSIGN_OR_RETURN(const int written, write(input, options, comparison, keys));
  for (const auto& warning : input.warnings()) report_warning(printable(warning.text));
  if (written != kDone) return written;
  const int judged = options.fail_above ? judge(comparison, keys, *options.fail_above) : kDone;
  return judged != kDone ? judged : input.exit_code();
}

}  // namespace

void add_diff_command(CLI::App& app, Action& action) {
  CLI::App* command = app.add_subcommand("diff", "what changed between recordings, function by function");
  auto typed = std::make_shared<DiffText>();
  command->add_option("OLD", typed->before, "a capture from before the change")->required();
  command->add_option("NEW", typed->after, "captures from after it; several runs tell the noise")->required();
  command->add_option("--old", typed->more_before, "one more run from before the change")
      ->type_name("FILE")
      ->allow_extra_args(false);
  add_selection_options(*command, typed->selection);
  command->add_option("--old-elf", typed->before_elfs, "the ELF of the old kernel, if not --elf's")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  command->add_option("--normalize", typed->normalize,
                 "set weights against a recording's total, its time, or its kernel instructions: total, time or instructions [total]")
      ->type_name("BY");
  command->add_flag("--all", typed->all, "also functions that changed by no more than the noise");
  command->add_option("--fail-above", typed->fail_above,
                 "exit with 1 if a function, or the sum, grew beyond the noise by more than this share of the old sum")
      ->type_name("PERCENT");
  command
      ->add_option("--format", typed->format,
                   "table; folded: `stack before after` lines; svg: a flame graph coloured by what changed; pprof: the "
                   "old side negative; html: the page of `qperf export` with a tab for the difference [table]")
      ->type_name("FORMAT");
  command->add_option("-o,--output", typed->output, "where to [standard output]")->type_name("OUT");
  command->add_flag("--json", typed->json, "print JSON (docs/json.md)");
  command->footer(
      "Functions are matched by name; hashes, clone suffixes and lines do not count. With several runs a side a change counts beyond\n"
      "their spread, with one beyond the sampling error (docs/diff.md).\n"
      "Examples:\n"
      "  qperf diff before.bin after.bin\n"
      "  qperf diff old1.bin --old old2.bin --old old3.bin new1.bin new2.bin new3.bin\n"
      "  qperf diff --old-elf vmlinux.old -e vmlinux --normalize time old.bin new.bin\n"
      "  qperf diff --fail-above 2 old.bin new.bin || echo slower\n"
      "  qperf diff --format svg -o changes.svg old.bin new.bin\n"
      "  qperf diff --format pprof -o changes.pb.gz old.bin new.bin && go tool pprof -top changes.pb.gz\n"
      "  qperf diff --format folded old.bin new.bin | difffolded.pl | flamegraph.pl > diff.svg");
  command->callback([&action, typed] {
    action = [typed] {
      const auto code = diff(*typed);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
