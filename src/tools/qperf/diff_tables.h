#pragma once

#include <string>
#include <vector>

#include "report/comparison.h"
#include "tools/qperf/table.h"

namespace qperf::tools {

/// What became of a function, in one word: "more", "less", "new", "gone", or "same" for a change within the noise.
[[nodiscard]] std::string_view verdict(const report::FunctionChange& change);

/// The functions whose self or total weight changed beyond the noise, the largest change first; `every_row`: all that there are.
/// The sums of both sides are the last line of the text.
[[nodiscard]] Table diff_table(const report::Comparison& comparison, const report::FrameKeys& keys, bool every_row);

/// Functions that grew beyond the noise by more than `percent` of the first side's sum, the largest growth first, as
/// "name +1.25 %"; "[all]" stands for the sum.
[[nodiscard]] std::vector<std::string> grown_above(const report::Comparison& comparison, const report::FrameKeys& keys,
                                                   double percent);

}  // namespace qperf::tools
