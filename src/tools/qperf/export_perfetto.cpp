#include "analysis/units.h"
#include "export/perfetto.h"
#include "tools/profiles/timeline_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const analysis::CaptureInput& capture = input.capture.profile.input;
  const exporter::PerfettoTimebase timebase{.name = "qperf: " + analysis::describe_mode(capture),
                                            .instructions = analysis::weight_unit(capture) == analysis::WeightUnit::kPeriods,
                                            .period = analysis::weight_as_quantity(capture, 1)};
  exporter::PerfettoWriter writer(input.names, timebase, sink);
  return write_timeline(input.timeline(), writer);
}

}  // namespace

const ExportFormat kPerfettoFormat{.name = "perfetto",
                                   .summary = "trace for ui.perfetto.dev: vCPU and task lanes, wake-ups, phases, samples",
                                   .needs = {.access = analysis::SampleAccess::kAgain, .replay_if_events = true},
                                   .write = write,
                                   .draws_time = true};

}  // namespace qperf::tools
