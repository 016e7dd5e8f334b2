#include <vector>

#include "tools/profiles/pprof_output.h"
#include "tools/qperf/export_format.h"
#include "tools/qperf/pprof_size.h"

namespace qperf::tools {
namespace {

Result<void> tell_size(Result<uint64_t> bytes) {
  if (!bytes) return std::move(bytes).error();
  tell_pprof_size(*bytes);
  return {};
}

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  std::vector<PprofSide> sides{{.profile = input.capture.profile, .sched = input.capture.sched.get()}};
  if (input.baseline != nullptr)
    sides.push_back({.profile = input.baseline->profile, .sched = input.baseline->sched.get(), .sign = PprofSign::kBase});
  return tell_size(write_pprof(input.names.frames, sides, sink));
}

Result<void> write_off_cpu(const ExportInput& input, exporter::TextSink& sink) {
  return tell_size(write_off_cpu_pprof(input.capture.profile.input, *input.capture.sched, sink));
}

}  // namespace

const ExportFormat kPprofFormat{.name = "pprof",
                                .summary = "gzip-compressed profile.proto for go tool pprof and pprof.me, with lines and labels",
                                .needs = {.detail = analysis::Detail::kLines, .label_samples = true},
                                .write = write,
                                .write_off_cpu = write_off_cpu,
                                .compares = true};

}  // namespace qperf::tools
