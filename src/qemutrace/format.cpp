#include "qemutrace/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <iterator>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr uint16_t kMaxWidth = 512;         // wider padding than any format of QEMU's; bounds what a hostile one can print
constexpr unsigned kMaxMatchSteps = 20000;  // several %s in one format can be tried in many ways
// Bytes searched in one line, beside so many times its length: each of those ways may look at the whole of a long one.
constexpr size_t kMaxSearchedBytes = size_t{1} << 20;
constexpr size_t kMaxSearchedLines = 64;

/// Concatenates string literals and PRI macros as the C preprocessor would, macros as their conversion ("lx"). Text that is
/// neither ends the format: QEMU swallows trailing comments there.
std::optional<std::string> joined(std::string_view source) {
  std::string out;
  for (size_t i = 0; i < source.size();) {
    const char c = source[i];
    if (c == ' ' || c == '\t') {
      ++i;
    } else if (c == '"') {
      for (++i; i < source.size() && source[i] != '"'; ++i) {
        if (source[i] != '\\' || i + 1 == source.size()) {
          out += source[i];
          continue;
        }
        ++i;
        out += source[i] == 't' ? '\t' : source[i];
      }
      ++i;
    } else if (source.substr(i).starts_with("PRI")) {
      i += 3;
      if (i == source.size()) return std::nullopt;
      const char conversion = source[i++];
      const std::string_view size =
          source.substr(i, std::min(source.find_first_not_of("0123456789PTRMAX", i), source.size()) - i);
      i += size.size();
      if (size == "64" || size == "PTR" || size == "MAX") {
        out += 'l';
      } else if (size == "16") {
        out += 'h';
      } else if (size == "8") {
        out += "hh";
      } else if (size != "32") {
        return std::nullopt;
      }
      out += conversion;
    } else {
      break;
    }
  }
  return out;
}

struct NumberText {
  uint64_t value;
  size_t length;
};

std::optional<NumberText> read_number(std::string_view text, char conversion) {
  size_t i = 0;
  while (i < text.size() && text[i] == ' ') ++i;
  if (conversion == 'p' && text.substr(i).starts_with("(nil)")) return NumberText{0, i + 5};
  bool negative = false;
  if (i < text.size() && (text[i] == '-' || text[i] == '+')) negative = text[i++] == '-';
  unsigned base = conversion == 'o' ? 8 : 10;
  if (conversion == 'x' || conversion == 'X' || conversion == 'p') {
    base = 16;
    if (conversion == 'p' && !text.substr(i).starts_with("0x")) return std::nullopt;
    if (text.substr(i).starts_with("0x") && conversion == 'p') i += 2;
  }
  uint64_t value = 0;
  const size_t begin = i;
  for (; i < text.size(); ++i) {
    const char c = text[i];
    unsigned digit = 16;
    if (c >= '0' && c <= '9') digit = static_cast<unsigned>(c - '0');
    if (c >= 'a' && c <= 'f') digit = static_cast<unsigned>(c - 'a' + 10);
    if (c >= 'A' && c <= 'F') digit = static_cast<unsigned>(c - 'A' + 10);
    if (digit >= base) break;
    if (value > (~uint64_t{0} - digit) / base) return std::nullopt;
    value = value * base + digit;
  }
  if (i == begin) return std::nullopt;
  return NumberText{negative ? ~value + 1 : value, i};
}

/// One attempt to read a line: pieces in turn, strings as short as the rest allows.
class Matcher {
 public:
  Matcher(const std::vector<CompiledFormat::Piece>& pieces, const Declaration& declaration, std::span<Value> values,
          size_t line_bytes)
      : pieces_(pieces),
        declaration_(declaration),
        values_(values),
        bytes_left_(kMaxSearchedBytes + kMaxSearchedLines * line_bytes) {}

  bool from(size_t piece, std::string_view text) {
    if (++steps_ > kMaxMatchSteps) return false;
    const CompiledFormat::Piece& p = pieces_[piece];
    if (!text.starts_with(p.literal)) return false;
    text.remove_prefix(p.literal.size());
    if (p.conversion == 0) return text.empty();
    // Arguments are read strictly in declared order, whatever the words around a conversion claim.
    Value& value = values_[p.argument];
    if (p.conversion == 's') return string(piece, text, value);
    if (p.conversion == 'c') {
      if (text.empty()) return false;
      value = {static_cast<uint8_t>(text[0]), nullptr};
      return from(piece + 1, text.substr(1));
    }
    const std::string_view prefix = p.flags.find('#') != std::string::npos && text.starts_with("0x") ? text.substr(0, 2) : "";
    const auto number = read_number(text.substr(prefix.size()), p.conversion);
    if (!number) return false;
    value = {widened(number->value, declaration_.arguments[p.argument]), nullptr};
    text.remove_prefix(prefix.size() + number->length);
    if (p.flags.find('-') != std::string::npos) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
    return from(piece + 1, text);
  }

 private:
  bool string(size_t piece, std::string_view text, Value& value) {
    const CompiledFormat::Piece& next = pieces_[piece + 1];
    if (next.conversion == 0) {  // the last: everything up to the closing text
      if (!text.ends_with(next.literal)) return false;
      value = {text.size() - next.literal.size(), text.data()};
      return true;
    }
    for (size_t length = 0; length <= text.size(); ++length) {
      const size_t from_here = length;
      length = text.find(next.literal, length);
      const size_t searched = std::min(length, text.size()) - from_here;
      bytes_left_ -= std::min(searched, bytes_left_);
      if (length == std::string_view::npos || bytes_left_ == 0) return false;
      value = {length, text.data()};
      if (from(piece + 1, text.substr(length))) return true;
      if (steps_ > kMaxMatchSteps || bytes_left_ == 0) return false;
    }
    return false;
  }

  const std::vector<CompiledFormat::Piece>& pieces_;
  const Declaration& declaration_;
  std::span<Value> values_;
  unsigned steps_ = 0;
  size_t bytes_left_;
};

}  // namespace

std::optional<CompiledFormat> CompiledFormat::compile(const Declaration& declaration) {
  const auto source = joined(declaration.format);
  if (!source) return std::nullopt;
  CompiledFormat out;
  Piece piece;
  size_t next_argument = 0;
  const std::string& text = *source;
  for (size_t i = 0; i < text.size();) {
    if (text[i] != '%') {
      piece.literal += text[i++];
      continue;
    }
    if (++i < text.size() && text[i] == '%') {
      piece.literal += text[i++];
      continue;
    }
    while (i < text.size() && std::string_view("-+ #0").find(text[i]) != std::string_view::npos) piece.flags += text[i++];
    unsigned width = 0;
    if (i < text.size() && text[i] == '*') {
      ++i;
      piece.star = static_cast<int16_t>(next_argument++);
    }
    while (i < text.size() && text[i] >= '0' && text[i] <= '9')
      width = std::min(width * 10 + static_cast<unsigned>(text[i++] - '0'), 9999U);
    int precision = -1;
    if (i < text.size() && text[i] == '.') {
      precision = 0;
      for (++i; i < text.size() && text[i] >= '0' && text[i] <= '9'; ++i)
        precision = std::min(precision * 10 + (text[i] - '0'), 9999);
    }
    if (width > kMaxWidth || precision > int{kMaxWidth} || piece.flags.size() > 5) return std::nullopt;
    const size_t size_begin = i;
    while (i < text.size() && std::string_view("hlzjtq").find(text[i]) != std::string_view::npos) ++i;
    const std::string_view size = std::string_view(text).substr(size_begin, i - size_begin);
    if (i == text.size()) return std::nullopt;
    const char conversion = text[i++];
    if (std::string_view("diuxXocsp").find(conversion) == std::string_view::npos) return std::nullopt;
    if (next_argument >= declaration.arguments.size()) return std::nullopt;
    piece.argument = static_cast<uint8_t>(next_argument);
    const bool is_string = declaration.arguments[next_argument++].kind == ArgumentKind::kString;
    if ((conversion == 's') != is_string && conversion != 'p') return std::nullopt;
    piece.conversion = conversion == 'i' ? 'd' : conversion;
    piece.width_bytes = size == "hh" ? 1 : size == "h" ? 2 : size.empty() ? 4 : 8;
    piece.min_width = static_cast<uint16_t>(width);
    piece.precision = static_cast<int16_t>(precision);
    out.pieces_.push_back(std::move(piece));
    piece = Piece{};
  }
  out.pieces_.push_back(std::move(piece));
  return out;
}

bool CompiledFormat::reads_all(size_t count) const noexcept {
  // Arguments are read in declared order, so the last conversion (before the closing text) tells.
  return pieces_.size() < 2 ? count == 0 : pieces_[pieces_.size() - 2].argument + size_t{1} == count;
}

void CompiledFormat::render(std::span<const Value> values, std::string& out) const {
  for (size_t i = 0; i < pieces_.size(); ++i) {
    const Piece& p = pieces_[i];
    out += p.literal;
    if (p.conversion == 0) break;
    if (p.argument >= values.size()) {
      out += '?';
      continue;
    }
    const Value& value = values[p.argument];
    if (value.is_string()) {
      std::string text =
          printable(value.string().substr(0, p.precision < 0 ? std::string_view::npos : static_cast<size_t>(p.precision)));
      const size_t padding = p.min_width > text.size() ? p.min_width - text.size() : 0;
      const bool left = p.flags.find('-') != std::string::npos;
      if (!left) out.append(padding, ' ');
      out += text;
      if (left) out.append(padding, ' ');
      continue;
    }
    if (p.conversion == 'c') {
      const char c = static_cast<char>(value.number);
      out += printable({&c, 1});
      continue;
    }
    std::string spec = "%" + p.flags;
    // The width's argument comes before the value, so it is there too.
    const uint64_t width = p.star < 0 ? p.min_width : std::min<uint64_t>(values[static_cast<size_t>(p.star)].number, kMaxWidth);
    if (width > 0) spec += std::to_string(width);
    if (p.precision >= 0) spec += fmt::format(".{}", p.precision);
    uint64_t number = value.number;
    if (p.conversion != 'p' && p.conversion != 's' && p.width_bytes < 8) {
      const unsigned unused = 64 - 8U * p.width_bytes;
      number = p.conversion == 'd' ? static_cast<uint64_t>(static_cast<int64_t>(number << unused) >> unused)
                                   : number << unused >> unused;
    }
    const bool pointer = p.conversion == 'p' || p.conversion == 's';
    spec += pointer ? "#llx" : std::string("ll") + p.conversion;
    std::array<char, kMaxWidth * 2> buffer;
    // The spec is our own: flags, two bounded numbers and a known conversion.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    const int length = std::snprintf(buffer.data(), buffer.size(), spec.c_str(), static_cast<unsigned long long>(number));
#pragma GCC diagnostic pop
    out += pointer && number == 0 ? std::string_view("0x0")
                                  : std::string_view(buffer.data(), static_cast<size_t>(std::max(length, 0)));
  }
}

std::optional<uint16_t> CompiledFormat::match(std::string_view text, const Declaration& declaration,
                                              std::span<Value> values) const {
  Matcher matcher(pieces_, declaration, values, text.size());
  if (!matcher.from(0, text)) return std::nullopt;
  unsigned missing = (1U << declaration.arguments.size()) - 1;
  for (const Piece& p : pieces_) {
    if (p.conversion != 0) missing &= ~(1U << p.argument);
  }
  return static_cast<uint16_t>(missing);
}

uint64_t widened(uint64_t number, const Argument& argument) noexcept {
  if (argument.width_bytes >= 8) return number;
  const unsigned unused = 64 - 8U * argument.width_bytes;
  if (argument.kind == ArgumentKind::kSigned) return static_cast<uint64_t>(static_cast<int64_t>(number << unused) >> unused);
  return number << unused >> unused;
}

}  // namespace qperf::qemutrace
