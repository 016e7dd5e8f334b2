#pragma once

#include <cstddef>
#include <span>
#include <string>

namespace qperf {

/// Bytes as tools print a build-id: two lower-case hexadecimal digits each, nothing between.
[[nodiscard]] inline std::string hex_digits(std::span<const std::byte> bytes) {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (const std::byte byte : bytes) {
    text += kDigits[std::to_integer<unsigned>(byte) >> 4];
    text += kDigits[std::to_integer<unsigned>(byte) & 15];
  }
  return text;
}

}  // namespace qperf
