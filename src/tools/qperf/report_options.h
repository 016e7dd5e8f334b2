#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "report/selection.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/with_trace.h"

namespace qperf::tools {

/// What the rows of a report are.
enum class ReportBy : uint8_t { kFunction, kFile, kLine, kTask, kCpu, kPhase };
enum class ReportShape : uint8_t { kTable, kTree, kCallers, kCallees };
enum class ReportSort : uint8_t { kSelf, kTotal, kName };
enum class ReportOutput : uint8_t { kText, kCsv, kJson };

/// `qperf report`, as typed.
struct ReportText {
  CaptureOptions capture;
  std::string by;
  bool tree = false;
  std::string callers;
  std::string callees;
  std::vector<std::string> focus;
  std::vector<std::string> ignore;
  std::vector<std::string> hide;
  std::string percent_limit;
  std::string sort;
  bool off_cpu = false;
  bool csv = false;
  bool json = false;
  WithTraceText trace;
};

/// The same, checked.
struct ReportOptions {
  CaptureOptions capture;
  ReportBy by = ReportBy::kFunction;
  ReportShape shape = ReportShape::kTable;
  std::string function;  // of callers and callees
  report::Selection selection;
  double percent_limit = 0;
  ReportSort sort = ReportSort::kSelf;
  bool off_cpu = false;
  ReportOutput output = ReportOutput::kText;
  WithTraceText trace;
};

/// Every failure is a usage error that names the option.
[[nodiscard]] Result<ReportOptions> check_report(const ReportText& typed);

}  // namespace qperf::tools
