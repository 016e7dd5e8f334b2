#include "tools/qperf/diff_options.h"

#include <utility>

#include "tools/qperf/words.h"

namespace qperf::tools {
namespace {

constexpr Words<Normalize, 3> kNormalize{
    {{"total", Normalize::kTotal}, {"time", Normalize::kTime}, {"instructions", Normalize::kInstructions}}};
constexpr Words<DiffOutput, 2> kFormat{{{"table", DiffOutput::kTable}, {"folded", DiffOutput::kFolded}}};

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
    QPERF_ASSIGN_OR_RETURN(options.output, one_of("--format", typed.format, kFormat));
  }
  if (typed.json && !typed.format.empty()) return Error{ErrorCode::kUsage, "--json and --format: give one of them"};
  if (typed.json) options.output = DiffOutput::kJson;
  if (!typed.fail_above.empty()) {
    QPERF_ASSIGN_OR_RETURN(options.fail_above, parse_percent("--fail-above", typed.fail_above));
  }
  options.all = typed.all;
  return options;
}

}  // namespace qperf::tools
