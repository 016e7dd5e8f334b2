#include "export/column.h"

#include <algorithm>

namespace qperf::exporter {

std::string base64(std::string_view bytes) {
  constexpr std::string_view kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  for (size_t i = 0; i < bytes.size(); i += 3) {
    uint32_t word = 0;
    const size_t have = std::min<size_t>(3, bytes.size() - i);
    for (size_t k = 0; k < 3; ++k) word = (word << 8) | (k < have ? static_cast<unsigned char>(bytes[i + k]) : 0U);
    for (size_t k = 0; k < 4; ++k) text += k <= have ? kDigits[(word >> (18 - 6 * k)) & 63] : '=';
  }
  return text;
}

void Column::add(uint64_t value) {
  value = std::min(value, kMost);
  // 0, -1, 1, -2, ... become 0, 1, 2, 3, ...
  uint64_t rest = value >= last_ ? (value - last_) * 2 : (last_ - value) * 2 - 1;
  last_ = value;
  for (; rest >= 0x80; rest >>= 7) bytes_ += static_cast<char>((rest & 0x7f) | 0x80);
  bytes_ += static_cast<char>(rest);
}

}  // namespace qperf::exporter
