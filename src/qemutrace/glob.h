#pragma once

#include <string_view>

namespace qperf::qemutrace {

/// Whether the whole text matches: '*' is any run of characters, '?' is one. Case counts. Time is bounded by the product of
/// both lengths.
[[nodiscard]] constexpr bool glob_matches(std::string_view pattern, std::string_view text) noexcept {
  size_t p = 0;
  size_t t = 0;
  size_t star = std::string_view::npos;  // the last '*' seen, and what it has eaten so far
  size_t eaten_to = 0;
  while (t < text.size()) {
    if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      eaten_to = t;
    } else if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == text[t])) {
      ++p;
      ++t;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      t = ++eaten_to;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace qperf::qemutrace
