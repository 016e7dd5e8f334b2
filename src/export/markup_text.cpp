#include "export/markup_text.h"

#include "base/printable.h"

namespace qperf::exporter {
namespace {

constexpr std::string_view kEllipsis = "…";

bool continues(char byte) noexcept { return (static_cast<unsigned char>(byte) & 0xc0) == 0x80; }

/// By its first byte: everything from U+3000 on counts as wide.
size_t columns_of(char lead) noexcept { return static_cast<unsigned char>(lead) >= 0xe3 ? 2 : 1; }

}  // namespace

std::string markup_text(std::string_view untrusted) {
  const std::string text = printable(untrusted);
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    switch (text[i]) {
      case '<': out += "&lt;"; continue;
      case '>': out += "&gt;"; continue;
      case '&': out += "&amp;"; continue;
      case '"': out += "&quot;"; continue;
      default: break;
    }
    // U+FFFE and U+FFFF are valid UTF-8 and no characters of XML.
    const std::string_view next = std::string_view(text).substr(i, 3);
    if (next == "\xef\xbf\xbe" || next == "\xef\xbf\xbf") {
      out += next == "\xef\xbf\xbe" ? "\\xef\\xbf\\xbe" : "\\xef\\xbf\\xbf";
      i += 2;
      continue;
    }
    out += text[i];
  }
  return out;
}

std::string clipped(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  size_t end = most;
  while (end > 0 && continues(text[end])) --end;
  return std::string(text.substr(0, end)).append(kEllipsis);
}

std::string clipped_to_columns(std::string_view text, size_t columns) {
  size_t used = 0;
  size_t end_with_ellipsis = 0;  // what fits beside the ellipsis
  for (size_t i = 0; i < text.size(); ++i) {
    if (continues(text[i])) continue;
    if (used < columns) end_with_ellipsis = i;
    used += columns_of(text[i]);
    if (used > columns) return columns == 0 ? "" : std::string(text.substr(0, end_with_ellipsis)).append(kEllipsis);
  }
  return std::string(text);
}

}  // namespace qperf::exporter
