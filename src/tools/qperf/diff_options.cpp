#include "tools/qperf/diff_options.h"

#include <utility>

#include "tools/qperf/words.h"

namespace qperf::tools {
namespace {

constexpr Words<Normalize, 3> kNormalize{
    {{"total", Normalize::kTotal}, {"time", Normalize::kTime}, {"instructions", Normalize::kInstructions}}};
constexpr Words<DiffOutput, 5> kFormat{{{"table", DiffOutput::kTable},
                                        {"folded", DiffOutput::kFolded},
                                        {"svg", DiffOutput::kSvg},
                                        {"pprof", DiffOutput::kPprof},
                                        {"html", DiffOutput::kHtml}}};

/// A page sets shares against shares.
Result<void> check_html(const DiffOptions& options) {
  if (options.normalize != Normalize::kTotal)
    return Error{ErrorCode::kUsage, "--format html: goes with --normalize total only; svg and table go with all of them"};
  return {};
}

}  // namespace

Result<DiffOptions> check_diff(const DiffText& typed) {
  DiffOptions options;
  options.before = typed.more_before;
  options.before.insert(options.before.begin(), typed.before);
  options.after = typed.after;
  options.after_selection = typed.selection;
  options.before_selection = typed.selection;
  if (!typed.before_elfs.empty()) options.before_selection.elfs = typed.before_elfs;
  if (!typed.normalize.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.normalize, one_of("--normalize", typed.normalize, kNormalize));
  }
  if (!typed.format.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.format, one_of("--format", typed.format, kFormat));
  }
  if (typed.json && !typed.format.empty()) return Error{ErrorCode::kUsage, "--json and --format: give one of them"};
  if (typed.json) options.format = DiffOutput::kJson;
  if (!typed.fail_above.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.fail_above, parse_percent("--fail-above", typed.fail_above));
  }
  options.all = typed.all;
  options.output = typed.output;
  if (options.format == DiffOutput::kHtml) QPERF_RETURN_IF_ERROR(check_html(options));
  return options;
}

}  // namespace qperf::tools
