#include "base/pattern.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

/// A line that is a regular expression, then text to search: parsed or refused with a reason, and what has one obvious answer gets it.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using qperf::Pattern;
  constexpr size_t kMaxTextBytes = 128;  // the work is text x pattern, and 20,000 instructions are written in a few bytes
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  const size_t line_end = std::min(input.find('\n'), input.size());
  const std::string_view expression = input.substr(0, line_end);
  const std::string_view text = input.substr(std::min(line_end + 1, input.size())).substr(0, kMaxTextBytes);
  const auto pattern = Pattern::parse(expression);
  if (!pattern) {
    if (pattern.error().message.empty()) std::abort();
    return 0;
  }
  const bool found = pattern->found_in(text);
  const bool literal = std::ranges::all_of(expression, [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == ' ' || c == '_';
  });
  if (literal && found != (text.find(expression) != std::string_view::npos)) std::abort();
  if (expression.starts_with("(?i)")) return 0;
  // The same in a group, twice, and as one of two equals; what is too large by then is refused.
  const std::string group = "(?:" + std::string(expression) + ")";
  for (const std::string& same : {group, group + "|" + group, group + "{1}", "(" + group + ")+"}) {
    if (const auto other = Pattern::parse(same); other && other->found_in(text) != found) std::abort();
  }
  return 0;
}
