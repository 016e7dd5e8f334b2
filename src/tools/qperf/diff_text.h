#pragma once

#include <string>

#include "report/comparison.h"
#include "tools/qperf/colours.h"
#include "tools/qperf/diff_input.h"
#include "tools/qperf/diff_options.h"

namespace qperf::tools {

/// The comparison by function as a table under the recordings' headlines.
[[nodiscard]] std::string diff_text(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                                    const report::FrameKeys& keys, Colours colours);

/// The same as docs/json.md describes it, with every function.
[[nodiscard]] std::string diff_json(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                                    const report::FrameKeys& keys);

}  // namespace qperf::tools
