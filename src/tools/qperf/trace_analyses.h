#pragma once

#include <string>
#include <string_view>

#include "qemutrace/analyzer.h"
#include "tools/qperf/table.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {

/// Opens the trace that the options name and runs the analyzer over it in order of time. An Error if it cannot be read;
/// otherwise what the source met, with the time of the first event (0 without times).
struct Analysed {
  qemutrace::ReadReport report;
  uint64_t first_ns = 0;
  uint64_t too_late = 0;  // records too far out of order to be sorted
  qemutrace::TraceClock clock = qemutrace::TraceClock::kNone;
};
Result<Analysed> analyse(const TraceOptions& options, qemutrace::Analyzer& analyzer);

/// The beginning of a job's JSON: its schema ("qperf-trace-io") and the version of that (docs/json.md).
[[nodiscard]] JsonObject json_of_job(std::string_view job);

/// Prints text or JSON, then what weakens it; returns the exit code.
int finish(const Analysed& analysed, std::string_view output);

}  // namespace qperf::tools
