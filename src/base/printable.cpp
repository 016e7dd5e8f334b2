#include "base/printable.h"

#include <fmt/core.h>

#include <cstdint>
#include <iterator>

namespace qperf {
namespace {

struct Decoded {
  uint32_t code_point;
  size_t length;  // 0: not valid UTF-8 at this position
};

Decoded decode_utf8(std::string_view text) noexcept {
  const auto lead = static_cast<uint8_t>(text[0]);
  if (lead < 0x80) return {lead, 1};
  const size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
  if (lead < 0xc2 || lead > 0xf4 || text.size() < length) return {0, 0};
  uint32_t value = lead & (0x7fU >> length);
  for (size_t i = 1; i < length; ++i) {
    const auto byte = static_cast<uint8_t>(text[i]);
    if ((byte & 0xc0) != 0x80) return {0, 0};
    value = (value << 6) | (byte & 0x3f);
  }
  // Overlong forms, surrogates and values past Unicode's end.
  constexpr uint32_t kLeast[5] = {0, 0, 0x80, 0x800, 0x10000};
  if (value < kLeast[length] || (value >= 0xd800 && value <= 0xdfff) || value > 0x10ffff) return {0, 0};
  return {value, length};
}

bool harmless(uint32_t code_point) noexcept {
  if (code_point < 0x20 || (code_point >= 0x7f && code_point <= 0x9f)) return false;
  // Line and paragraph separators and the bidirectional controls can reorder what a person reads.
  if (code_point == 0x2028 || code_point == 0x2029) return false;
  if (code_point >= 0x202a && code_point <= 0x202e) return false;
  return !(code_point >= 0x2066 && code_point <= 0x2069);
}

}  // namespace

std::string printable(std::string_view untrusted) {
  std::string out;
  out.reserve(untrusted.size());
  while (!untrusted.empty()) {
    const auto [code_point, length] = decode_utf8(untrusted);
    const size_t taken = length == 0 ? 1 : length;
    if (length != 0 && harmless(code_point)) {
      out.append(untrusted.substr(0, taken));
    } else {
      for (const char c : untrusted.substr(0, taken))
        fmt::format_to(std::back_inserter(out), "\\x{:02x}", static_cast<uint8_t>(c));
    }
    untrusted.remove_prefix(taken);
  }
  return out;
}

}  // namespace qperf
