#include "tools/profiles/svg_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const auto warnings = input.capture.warnings();
  const analysis::CaptureProfile& profile = input.capture.profile;
  const auto stacks = input.by_task ? exporter::SvgStacks::kTasks : exporter::SvgStacks::kFunctions;
  write_svg_profile({.name = input.name, .capture = profile.input, .warnings = warnings}, input.names, profile.weights, stacks, sink);
  return {};
}

Result<void> write_off_cpu(const ExportInput& input, exporter::TextSink& sink) {
  const auto warnings = input.capture.warnings();
  write_svg_off_cpu({.name = input.name, .capture = input.capture.profile.input, .warnings = warnings}, *input.capture.sched, sink);
  return {};
}

}  // namespace

const ExportFormat kSvgFormat{.name = "svg",
                              .summary = "a flame graph as a picture, with zoom and search in a browser",
                              .needs = {},
                              .write = write,
                              .write_off_cpu = write_off_cpu};

}  // namespace qperf::tools
