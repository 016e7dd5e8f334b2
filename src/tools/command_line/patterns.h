#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "base/result.h"

namespace qperf::tools {

/// The regular expression that was typed for `option`; an empty text is no expression: nullopt. Error: names the option.
[[nodiscard]] Result<std::optional<Pattern>> parse_pattern(std::string_view option, const std::string& text);

/// The same for an option that may be given several times.
[[nodiscard]] Result<std::vector<Pattern>> parse_patterns(std::string_view option, const std::vector<std::string>& texts);

}  // namespace qperf::tools
