#pragma once

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <string>
#include <string_view>
#include <utility>

#include "base/printable.h"
#include "base/result.h"

namespace qperf::tools {

/// The words that an option takes, and what each means.
template <typename Value, size_t N>
using Words = std::array<std::pair<std::string_view, Value>, N>;

/// The meaning of `typed`. Error: not one of the words; it lists them.
template <typename Value, size_t N>
[[nodiscard]] Result<Value> one_of(std::string_view option, std::string_view typed, const Words<Value, N>& words) {
  std::string known;
  for (const auto& [word, value] : words) {
    if (word == typed) return value;
    known += fmt::format("{}{}", known.empty() ? "" : ", ", word);
  }
  return Error{ErrorCode::kUsage, fmt::format("{} '{}': not known: {}", option, printable(typed), known)};
}

/// A number from 0 to 100.
[[nodiscard]] inline Result<double> parse_percent(std::string_view option, std::string_view typed) {
  double value = 0;
  const auto [end, error] = std::from_chars(typed.data(), typed.data() + typed.size(), value);
  if (error != std::errc() || end != typed.data() + typed.size() || !(value >= 0 && value <= 100))
    return Error{ErrorCode::kUsage, fmt::format("{} '{}': not a number from 0 to 100", option, printable(typed))};
  return value;
}

}  // namespace qperf::tools
