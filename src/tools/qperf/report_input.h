#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/frame_table.h"
#include "report/annotation.h"
#include "report/row.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/report_options.h"

namespace qperf::tools {

/// What a report is made of: weights of named stacks by group.
struct ReportInput {
  LoadedCapture capture;
  profile::NamedStacks names;
  std::vector<report::Row> rows;
  std::map<uint32_t, std::string> groups;  // names by Row::group; empty: not grouped
  std::vector<std::string> searched;       // what --focus, --ignore and --hide search, by frame; empty: its name
  std::string_view unit;                   // "ticks", "periods", "instructions", "samples", "ns"
};

/// Reads the capture as `options` ask for it.
[[nodiscard]] Result<ReportInput> load_report(const ReportOptions& options);

/// Exact counts have no stacks: the innermost function at a block is the whole of it.
[[nodiscard]] report::Depth report_depth(const analysis::CaptureInput& input);

}  // namespace qperf::tools
