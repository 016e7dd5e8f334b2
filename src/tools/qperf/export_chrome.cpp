#include "analysis/units.h"
#include "export/chrome.h"
#include "tools/profiles/timeline_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

/// With mode=icount a sample says nothing about how long its stack lasted: beyond this it is not drawn.
constexpr uint64_t kMostNsByInstructions = 10'000'000;

exporter::HostStyle host_style(const HostView& host) {
  exporter::HostStyle style;
  // perf script tells CPUs only where it is asked to: without, all samples are one CPU's.
  if (host.profile.input.summary.header.max_vcpus > 1) style.lanes = exporter::HostStyle::Lanes::kCpus;
  if (host.usual_gap_ns != 0) style.span.least_ns = profile::saturating_multiply(2, host.usual_gap_ns);
  return style;
}

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const analysis::CaptureInput& capture = input.capture.profile.input;
  exporter::SampleSpan span{.ns_per_weight = 0, .least_ns = kMostNsByInstructions};
  if (analysis::weight_unit(capture) == analysis::WeightUnit::kTicks)
    span = {.ns_per_weight = profile::saturating_multiply(2, analysis::weight_as_quantity(capture, 1)), .least_ns = 0};
  exporter::ChromeWriter writer(input.names, span, input.host == nullptr ? exporter::HostStyle{} : host_style(input.host->view), sink);
  return write_timeline(input.timeline(), writer);
}

}  // namespace

const ExportFormat kChromeFormat{.name = "chrome",
                                 .summary = "Trace Event JSON for chrome://tracing, Perfetto and speedscope: the same lanes",
                                 .needs = {.access = analysis::SampleAccess::kAgain, .replay_if_events = true},
                                 .write = write,
                                 .draws_time = true};

}  // namespace qperf::tools
