#include "tools/profiles/runs.h"
#include "tools/profiles/svg_difference.h"
#include "tools/profiles/svg_output.h"
#include "tools/profiles/weight_words.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

void write_compared(const ExportInput& input, exporter::SvgStacks stacks, exporter::TextSink& sink) {
  const analysis::CaptureProfile& current = input.capture.profile;
  const analysis::CaptureProfile& baseline = input.baseline->profile;
  const auto warnings = input.warnings();
  const report::Run before = run_of(baseline, percent_per_weight(baseline));
  const report::Run after = run_of(current, percent_per_weight(current));
  write_svg_difference({.name = input.name, .capture = current.input, .warnings = warnings},
                       {.names = input.names,
                        .before = std::span(&before, 1),
                        .after = std::span(&after, 1),
                        .value_unit = "%",
                        .before_name = input.baseline_name,
                        .drawn = after.rows,
                        .drawn_unit = weight_words(current.input),
                        .stacks = stacks},
                       sink);
}

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const auto stacks = input.by_task ? exporter::SvgStacks::kTasks : exporter::SvgStacks::kFunctions;
  if (input.baseline != nullptr) {
    write_compared(input, stacks, sink);
    return {};
  }
  const auto warnings = input.warnings();
  const analysis::CaptureProfile& profile = input.capture.profile;
  write_svg_profile({.name = input.name, .capture = profile.input, .warnings = warnings}, input.names, profile.weights, stacks, sink);
  return {};
}

Result<void> write_off_cpu(const ExportInput& input, exporter::TextSink& sink) {
  const auto warnings = input.warnings();
  write_svg_off_cpu({.name = input.name, .capture = input.capture.profile.input, .warnings = warnings}, *input.capture.sched, sink);
  return {};
}

}  // namespace

const ExportFormat kSvgFormat{.name = "svg",
                              .summary = "a flame graph as a picture, with zoom and search in a browser",
                              .needs = {},
                              .write = write,
                              .write_off_cpu = write_off_cpu,
                              .compares = true};

}  // namespace qperf::tools
