#include "analysis/elf_argument.h"

#include <charconv>

namespace qperf::analysis {

std::optional<uint64_t> parse_unsigned(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    base = 16;
    text.remove_prefix(2);
  }
  uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value, base);
  if (text.empty() || error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

ElfArgument parse_elf_argument(std::string_view text) {
  const ElfArgument whole{.path = std::string(text), .slide_bytes = std::nullopt};
  const size_t at = text.rfind('@');
  if (at == std::string_view::npos || at == 0) return whole;
  std::string_view number = text.substr(at + 1);
  const bool negative = number.starts_with('-');
  if (negative) number.remove_prefix(1);
  const auto slide = parse_unsigned(number);
  if (!slide) return whole;
  return ElfArgument{.path = std::string(text.substr(0, at)), .slide_bytes = negative ? uint64_t{0} - *slide : *slide};
}

}  // namespace qperf::analysis
