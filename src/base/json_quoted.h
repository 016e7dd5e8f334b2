#pragma once

#include <string>
#include <string_view>

namespace qperf {

/// A JSON string with its quotes. Control characters and invalid UTF-8 are first made printable as \xNN text.
[[nodiscard]] std::string json_quoted(std::string_view untrusted);

}  // namespace qperf
