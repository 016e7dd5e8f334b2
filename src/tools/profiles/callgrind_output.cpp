#include "tools/profiles/callgrind_output.h"

#include "analysis/units.h"
#include "export/callgrind.h"

namespace qperf::tools {
namespace {

using analysis::WeightUnit;

std::vector<exporter::CallgrindEvent> events_of(const analysis::CaptureInput& input) {
  switch (analysis::weight_unit(input)) {
    case WeightUnit::kTicks: return {{"Ns", "Wall time in nanoseconds"}, {"Samples", "Samples"}};
    case WeightUnit::kPeriods: return {{"Ir", "Instructions, by samples"}, {"Samples", "Samples"}};
    case WeightUnit::kInstructions: return {{"Ir", "Instructions executed"}, {"Blocks", "Counted blocks"}};
    case WeightUnit::kSamples: break;
  }
  return {{"Samples", "Samples"}};
}

}  // namespace

void write_callgrind(const analysis::CaptureProfile& profile, const profile::FrameTable& frames, exporter::TextSink& sink) {
  exporter::CallgrindGraph graph;
  for (const profile::LocatedRow& row : profile.located->rows)
    graph.add(*profile.located, row.stack, {analysis::weight_as_quantity(profile.input, row.weight), row.samples}, row.samples);
  exporter::CallgrindHeader header;
  header.creator = "qperf " QPERF_VERSION;
  header.command = profile.input.path;
  if (!profile.input.legacy) header.notes.push_back("Mode: " + analysis::describe_mode(profile.input));
  header.notes.emplace_back("Calls: counts of calls are the numbers of samples that had them");
  header.events = events_of(profile.input);
  graph.write(header, frames, sink);
}

}  // namespace qperf::tools
