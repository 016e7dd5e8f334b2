#include "tools/qperf/report_options.h"

#include <fmt/core.h>

#include <string_view>
#include <utility>

#include "tools/command_line/patterns.h"
#include "tools/qperf/words.h"

namespace qperf::tools {
namespace {

/// What a person wants to see of a long list; programs get all of it.
constexpr double kUsualPercentLimit = 0.5;

Error usage(std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; }

constexpr Words<ReportBy, 6> kBy{{{"function", ReportBy::kFunction},
                                  {"file", ReportBy::kFile},
                                  {"line", ReportBy::kLine},
                                  {"task", ReportBy::kTask},
                                  {"cpu", ReportBy::kCpu},
                                  {"phase", ReportBy::kPhase}}};
constexpr Words<ReportSort, 3> kSort{
    {{"self", ReportSort::kSelf}, {"total", ReportSort::kTotal}, {"name", ReportSort::kName}}};

Result<void> check_shape(const ReportText& typed, ReportOptions& options) {
  int shapes = 0;
  const auto take = [&](bool given, ReportShape shape, const std::string& function) {
    if (!given) return;
    ++shapes;
    options.shape = shape;
    options.function = function;
  };
  take(typed.tree, ReportShape::kTree, "");
  take(!typed.callers.empty(), ReportShape::kCallers, typed.callers);
  take(!typed.callees.empty(), ReportShape::kCallees, typed.callees);
  if (shapes > 1) return usage("--tree, --callers and --callees: give one of them");
  if (shapes == 1 && !typed.by.empty()) return usage("--by makes a table: it goes with neither --tree, --callers nor --callees");
  if (shapes == 1 && !typed.sort.empty()) return usage("--sort orders a table: trees have the heaviest branch first");
  return {};
}

}  // namespace

Result<ReportOptions> check_report(const ReportText& typed) {
  ReportOptions options;
  options.capture = typed.capture;
  QPERF_RETURN_IF_ERROR(check_shape(typed, options));
  if (!typed.by.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.by, one_of("--by", typed.by, kBy));
  }
  if (!typed.sort.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.sort, one_of("--sort", typed.sort, kSort));
  }
  QPERF_ASSIGN_OR_RETURN(options.selection.focus, parse_patterns("--focus", typed.focus));
  QPERF_ASSIGN_OR_RETURN(options.selection.ignore, parse_patterns("--ignore", typed.ignore));
  QPERF_ASSIGN_OR_RETURN(options.selection.hide, parse_patterns("--hide", typed.hide));
  if (typed.csv && typed.json) return usage("--csv and --json: give one of them");
  options.output = typed.csv ? ReportOutput::kCsv : typed.json ? ReportOutput::kJson : ReportOutput::kText;
  options.percent_limit = options.output == ReportOutput::kText ? kUsualPercentLimit : 0;
  if (!typed.percent_limit.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.percent_limit, parse_percent("--percent-limit", typed.percent_limit));
  }
  options.off_cpu = typed.off_cpu;
  QPERF_RETURN_IF_ERROR(check_with_trace(typed.trace));
  if (typed.csv && typed.trace.given()) return usage("--csv --with-trace: CSV has one table; --json has both");
  options.trace = typed.trace;
  const bool place = options.by == ReportBy::kFile || options.by == ReportBy::kLine;
  if (typed.off_cpu && (place || options.by == ReportBy::kCpu || options.by == ReportBy::kPhase))
    return usage(fmt::format("--off-cpu --by {}: waiting is told by function or task", typed.by));
  return options;
}

}  // namespace qperf::tools
