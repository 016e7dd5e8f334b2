#pragma once

#include <string>

#include "qemutrace/source.h"

namespace qperf::tools {

/// A number with three decimals, null for what is not finite.
[[nodiscard]] std::string json_number(double value);

/// `"incomplete": true, "lost_events": ...`: what weakens a result, the same keys in every job.
[[nodiscard]] std::string json_report(const qemutrace::ReadReport& report);

}  // namespace qperf::tools
