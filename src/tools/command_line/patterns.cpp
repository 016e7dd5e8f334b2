#include "tools/command_line/patterns.h"

#include <utility>

namespace qperf::tools {

Result<std::optional<Pattern>> parse_pattern(std::string_view option, const std::string& text) {
  if (text.empty()) return std::optional<Pattern>();
  auto pattern = Pattern::parse(text);
  if (!pattern) return std::move(pattern).error().in(option);
  return std::optional(*std::move(pattern));
}

Result<std::vector<Pattern>> parse_patterns(std::string_view option, const std::vector<std::string>& texts) {
  std::vector<Pattern> patterns;
  for (const std::string& text : texts) {
    auto pattern = Pattern::parse(text);
    if (!pattern) return std::move(pattern).error().in(option);
    patterns.push_back(*std::move(pattern));
  }
  return patterns;
}

}  // namespace qperf::tools
