#include <string>

#include "export/speedscope.h"
#include "tools/profiles/off_cpu_output.h"
#include "tools/profiles/speedscope_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const Profiles profiles{.names = input.names, .current = input.capture.profile};
  const auto list = input.by_task ? ProfileList::kAllTasksAndVcpus : ProfileList::kAllOnly;
  exporter::write_speedscope(input.names, speedscope_part(profiles, std::nullopt, list, std::string(input.name)), sink);
  return {};
}

Result<void> write_off_cpu(const ExportInput& input, exporter::TextSink& sink) {
  write_off_cpu_speedscope(*input.capture.sched, sink);
  return {};
}

}  // namespace

const ExportFormat kSpeedscopeFormat{.name = "speedscope",
                                     .summary = "JSON for speedscope, in the order of time",
                                     .needs = {.order = analysis::Order::kTimeline},
                                     .write = write,
                                     .write_off_cpu = write_off_cpu};

}  // namespace qperf::tools
