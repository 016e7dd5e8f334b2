#include "analysis/units.h"
#include "export/chrome.h"
#include "tools/profiles/timeline_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

/// With mode=icount a sample says nothing about how long its stack lasted: beyond this it is not drawn.
constexpr uint64_t kMostNsByInstructions = 10'000'000;

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const analysis::CaptureInput& capture = input.capture.profile.input;
  exporter::SampleSpan span{.ns_per_weight = 0, .least_ns = kMostNsByInstructions};
  if (analysis::weight_unit(capture) == analysis::WeightUnit::kTicks)
    span = {.ns_per_weight = profile::saturating_multiply(2, analysis::weight_as_quantity(capture, 1)), .least_ns = 0};
  exporter::ChromeWriter writer(input.names, span, sink);
  return write_timeline(input.capture.profile, input.capture.sched.get(), input.capture.vcpus, input.devices, writer);
}

}  // namespace

const ExportFormat kChromeFormat{.name = "chrome",
                                 .summary = "Trace Event JSON for chrome://tracing, Perfetto and speedscope: the same lanes",
                                 .needs = {.access = analysis::SampleAccess::kAgain, .replay_if_events = true},
                                 .write = write,
                                 .draws_devices = true};

}  // namespace qperf::tools
