#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <memory>

#include "analysis/report.h"
#include "analysis/units.h"
#include "base/json_quoted.h"
#include "export/folded.h"
#include "tools/qperf/diff_input.h"
#include "tools/qperf/diff_options.h"
#include "tools/qperf/diff_tables.h"
#include "tools/qperf/json.h"
#include "tools/qperf/reading_commands.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

constexpr int kSchemaVersion = 1;

uint64_t rate_of(const analysis::CaptureInput& input) {
  const capture::Header& header = input.summary.header;
  return header.mode == guest::Mode::kWall ? header.freq_hz : header.period_insns;
}

/// Raw counts of one run a side at one rate, as other tools' differential folded files have them; else means over the runs, in
/// nanoseconds or instructions.
std::string folded(const DiffInput& input) {
  const auto& first = input.before_captures.front().profile.input;
  bool raw = input.before.size() == 1 && input.after.size() == 1;
  for (const LoadedCapture& capture : input.after_captures) raw = raw && rate_of(capture.profile.input) == rate_of(first);
  std::vector<exporter::FoldedRow> rows;
  const auto add = [&](const std::vector<LoadedCapture>& captures, uint64_t exporter::FoldedRow::* count) {
    for (const LoadedCapture& capture : captures) {
      for (const auto& row : capture.profile.weights.rows()) {
        exporter::FoldedRow folded_row{.root = std::nullopt, .stack = row.stack, .count = 0, .count2 = 0};
        folded_row.*count =
            raw ? row.weight : analysis::weight_as_quantity(capture.profile.input, row.weight) / captures.size();
        rows.push_back(folded_row);
      }
    }
  };
  add(input.before_captures, &exporter::FoldedRow::count);
  add(input.after_captures, &exporter::FoldedRow::count2);
  exporter::StringSink sink;
  exporter::write_folded(input.names, rows, exporter::FoldedCounts::kTwo, sink);
  return sink.text();
}

std::string side_json(const std::vector<LoadedCapture>& captures) {
  Table table({{"", "file"}, {"", "samples"}, {"", "weight"}, {"", "complete"}});
  for (const LoadedCapture& capture : captures)
    table.add({cell_text(capture.profile.input.path), cell(capture.profile.tally.samples), cell(capture.profile.tally.weight),
               {"", capture.exit_code() == kDone ? "true" : "false"}});
  return table.json();
}

std::string_view normalize_name(Normalize normalize) {
  switch (normalize) {
    case Normalize::kTotal: return "total";
    case Normalize::kTime: return "time";
    case Normalize::kInstructions: return "instructions";
  }
  return "?";
}

std::string as_json(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                    const report::FrameKeys& keys, const analysis::Messages& warnings) {
  const report::Change& all = comparison.all;
  JsonObject out;
  out.raw("format", json_quoted("qperf-diff"));
  out.add("version", cell(kSchemaVersion));
  out.raw("normalize", json_quoted(normalize_name(options.normalize)));
  out.raw("unit", json_quoted(input.unit));
  out.raw("before", side_json(input.before_captures));
  out.raw("after", side_json(input.after_captures));
  out.raw("all", fmt::format("{{\"before\": {}, \"after\": {}, \"change\": {}, \"noise\": {}}}", json_number(all.before),
                             json_number(all.after), json_number(all.delta()), all.noise ? json_number(*all.noise) : "null"));
  out.raw("functions", diff_table(comparison, keys, true).json());
  std::vector<std::string> texts;
  for (const auto& warning : warnings) texts.push_back(warning.text);
  out.add("warnings", cell_words(texts));
  return out.text();
}

std::string as_text(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                    const report::FrameKeys& keys) {
  std::string out;
  const auto add = [&](std::string_view side, const std::vector<LoadedCapture>& captures) {
    for (const LoadedCapture& capture : captures) out += fmt::format("{} {}\n", side, analysis::headline(capture.profile.input));
  };
  add("before:", input.before_captures);
  add("after: ", input.after_captures);
  return out + fmt::format("numbers are {}\n\n", input.unit == "%" ? "percent of a recording's weight" : input.unit) +
         diff_table(comparison, keys, options.all).text(stdout_colours());
}

/// The captures' own warnings and those about comparing them.
analysis::Messages warnings_of(const DiffInput& input) {
  analysis::Messages all;
  const auto take = [&](const analysis::Messages& messages) { all.insert(all.end(), messages.begin(), messages.end()); };
  for (const auto* side : {&input.before_captures, &input.after_captures})
    for (const LoadedCapture& capture : *side) take(capture.warnings());
  const auto& first = input.before_captures.front().profile.input;
  for (const LoadedCapture& capture : input.after_captures) take(analysis::differences_between(first, capture.profile.input));
  const capture::Header& header = first.summary.header;
  const bool one_run = input.before.size() == 1 && input.after.size() == 1;
  if (one_run && !first.legacy && header.mode == guest::Mode::kIcount && header.jitter_percent == 0)
    all.push_back({analysis::Severity::kWarning,
                   "a fixed period has no error bound when the guest is periodic (docs/accuracy.md): the noise shown is that of random "
                   "sampling; record with jitter=, or give several runs"});
  return all;
}

int exit_code_of(const DiffInput& input) {
  for (const auto* side : {&input.before_captures, &input.after_captures})
    for (const LoadedCapture& capture : *side)
      if (capture.exit_code() != kDone) return kIncomplete;
  return kDone;
}

int judge(const report::Comparison& comparison, const report::FrameKeys& keys, double percent) {
  constexpr size_t kNamed = 5;
  const std::vector<std::string> grown = grown_above(comparison, keys, percent);
  if (grown.empty()) return kDone;
  std::string text = fmt::format("--fail-above {}: grew by more", percent);
  for (size_t i = 0; i < grown.size() && i < kNamed; ++i) text += (i == 0 ? ": " : ", ") + grown[i];
  if (grown.size() > kNamed) text += fmt::format(" and {} more", grown.size() - kNamed);
  return report_error(Error{ErrorCode::kLimit, std::move(text)});
}

Result<int> diff(const DiffText& typed) {
  QPERF_ASSIGN_OR_RETURN(const DiffOptions options, check_diff(typed));
  QPERF_ASSIGN_OR_RETURN(const DiffInput input, load_diff(options));
  const report::FrameKeys keys = report::keys_by_stable_name(input.names.frames);
  const report::Comparison comparison = report::compare(input.before, input.after, keys, input.names);
  const analysis::Messages warnings = warnings_of(input);
  std::string out;
  switch (options.output) {
    case DiffOutput::kTable: out = as_text(input, options, comparison, keys); break;
    case DiffOutput::kJson: out = as_json(input, options, comparison, keys, warnings); break;
    case DiffOutput::kFolded: out = folded(input); break;
  }
  const int written = write_out(out);
  for (const auto& warning : warnings) report_warning(warning.text);
  if (written != kDone) return written;
  const int judged = options.fail_above ? judge(comparison, keys, *options.fail_above) : kDone;
  return judged != kDone ? judged : exit_code_of(input);
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
  command->add_option("--format", typed->format, "table, or folded: `stack before after` lines [table]")->type_name("FORMAT");
  command->add_flag("--json", typed->json, "print JSON (docs/json.md)");
  command->footer(
      "Functions are matched by name; hashes, clone suffixes and lines do not count. With several runs a side a change counts beyond\n"
      "their spread, with one beyond the sampling error (docs/diff.md).\n"
      "Examples:\n"
      "  qperf diff before.bin after.bin\n"
      "  qperf diff old1.bin --old old2.bin --old old3.bin new1.bin new2.bin new3.bin\n"
      "  qperf diff --old-elf vmlinux.old -e vmlinux --normalize time old.bin new.bin\n"
      "  qperf diff --fail-above 2 old.bin new.bin || echo slower\n"
      "  qperf diff --format folded old.bin new.bin | difffolded.pl | flamegraph.pl > diff.svg");
  command->callback([&action, typed] {
    action = [typed] {
      const auto code = diff(*typed);
      return code ? *code : report_error(code.error());
    };
  });
}

}  // namespace qperf::tools
