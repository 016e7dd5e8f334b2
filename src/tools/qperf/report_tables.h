#pragma once

#include "base/result.h"
#include "report/selection.h"
#include "tools/qperf/report_input.h"
#include "tools/qperf/report_options.h"
#include "tools/qperf/table.h"

namespace qperf::tools {

/// The rows that the options ask for. Below the rows the text has what the limit, --focus and --ignore left out, and the sum, so
/// that the first column of numbers always adds up. Error: --callers or --callees of a function that is not there.
[[nodiscard]] Result<Table> report_table(const ReportInput& input, const report::Selected& selected, const ReportOptions& options);

/// What `table` rows are, as the JSON says it: "functions", "tree", ...
[[nodiscard]] std::string_view rows_name(const ReportOptions& options);

/// Where the ticks of the selected vCPUs went; empty in other modes than wall.
[[nodiscard]] Table bucket_table(const LoadedCapture& capture, const profile::VcpuSet& vcpus);

}  // namespace qperf::tools
