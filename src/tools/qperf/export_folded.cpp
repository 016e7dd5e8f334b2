#include "tools/profiles/folded_output.h"
#include "tools/profiles/off_cpu_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const Profiles profiles{.names = input.names, .current = input.capture.profile};
  write_folded_part(profiles, std::nullopt, RootFrames::kNone, sink);
  return {};
}

Result<void> write_off_cpu(const ExportInput& input, exporter::TextSink& sink) {
  write_off_cpu_folded(*input.capture.sched, sink);
  return {};
}

}  // namespace

const ExportFormat kFoldedFormat{.name = "folded",
                                 .summary = "a line per stack with its count, for flamegraph.pl and inferno",
                                 .needs = {},
                                 .write = write,
                                 .write_off_cpu = write_off_cpu};

}  // namespace qperf::tools
