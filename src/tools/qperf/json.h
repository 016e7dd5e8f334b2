#pragma once

#include <string>
#include <string_view>

#include "qemutrace/source.h"

namespace qperf::tools {

/// A JSON string with its quotes. Control characters and invalid UTF-8 are first made printable as \xNN text.
[[nodiscard]] std::string json_string(std::string_view untrusted);

/// A number with three decimals, null for what is not finite.
[[nodiscard]] std::string json_number(double value);

/// `"incomplete": true, "lost_events": ...`: what weakens a result, the same keys in every job.
[[nodiscard]] std::string json_report(const qemutrace::ReadReport& report);

}  // namespace qperf::tools
