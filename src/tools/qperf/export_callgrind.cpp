#include "tools/profiles/callgrind_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  write_callgrind(input.capture.profile, input.names.frames, sink);
  return {};
}

}  // namespace

const ExportFormat kCallgrindFormat{.name = "callgrind",
                                    .summary = "callgrind.out for KCachegrind and callgrind_annotate: calls and lines",
                                    .needs = {.detail = analysis::Detail::kLines},
                                    .write = write};

}  // namespace qperf::tools
