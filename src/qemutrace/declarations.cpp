#include "qemutrace/declarations.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <system_error>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

constexpr std::string_view kBlanks = " \t\r\f\v";
constexpr size_t kMaxFileBytes = size_t{64} << 20;
constexpr size_t kShownBytes = 80;  // of a faulty line, in its error

bool is_word(char c) noexcept { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_'; }

/// As C wants the name of a parameter, which QEMU's build makes of it.
bool is_identifier(std::string_view text) noexcept {
  return !text.empty() && !(text.front() >= '0' && text.front() <= '9') && std::all_of(text.begin(), text.end(), is_word);
}

std::string_view stripped(std::string_view text) noexcept {
  const size_t first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::string shown(std::string_view text) {
  std::string out = printable(text.substr(0, kShownBytes));
  if (text.size() > kShownBytes) out += "...";
  return out;
}

struct TypeWord {
  std::string_view word;
  ArgumentKind kind;
  uint8_t width_bytes;
};

// The words that QEMU's own parser lets a type consist of, beside `const` and '*'.
constexpr std::array kTypeWords = std::to_array<TypeWord>({
    {"int", ArgumentKind::kSigned, 4},         {"long", ArgumentKind::kSigned, 8},
    {"short", ArgumentKind::kSigned, 2},       {"char", ArgumentKind::kSigned, 1},
    {"bool", ArgumentKind::kBool, 1},          {"unsigned", ArgumentKind::kUnsigned, 4},
    {"signed", ArgumentKind::kSigned, 4},      {"int8_t", ArgumentKind::kSigned, 1},
    {"int16_t", ArgumentKind::kSigned, 2},     {"int32_t", ArgumentKind::kSigned, 4},
    {"int64_t", ArgumentKind::kSigned, 8},     {"uint8_t", ArgumentKind::kUnsigned, 1},
    {"uint16_t", ArgumentKind::kUnsigned, 2},  {"uint32_t", ArgumentKind::kUnsigned, 4},
    {"uint64_t", ArgumentKind::kUnsigned, 8},  {"void", ArgumentKind::kUnsigned, 8},
    {"size_t", ArgumentKind::kUnsigned, 8},    {"ssize_t", ArgumentKind::kSigned, 8},
    {"uintptr_t", ArgumentKind::kUnsigned, 8}, {"ptrdiff_t", ArgumentKind::kSigned, 8},
});

/// QEMU's test, letter for letter: `char  *` with two blanks is stored as a number.
bool is_string_type(std::string_view type) noexcept {
  const bool named = type.starts_with("const char*") || type.starts_with("char*") || type.starts_with("const char *") ||
                     type.starts_with("char *");
  return named && type.find('*') == type.rfind('*');
}

bool is_tcg_type(std::string_view type) noexcept { return type.starts_with("TCGv"); }

/// Fills in kind and width; returns the first word that the rule refuses.
std::optional<std::string_view> classify(Argument& argument, TypeRule rule) {
  const std::string_view type = argument.type;
  const bool pointer = type.find('*') != std::string_view::npos;
  bool is_unsigned = false;
  bool is_char = false;
  std::optional<uint8_t> width;
  ArgumentKind kind = ArgumentKind::kUnsigned;
  for (size_t at = 0; at < type.size();) {
    const size_t begin = type.find_first_not_of(" \t*", at);
    if (begin == std::string_view::npos) break;
    const size_t end = std::min(type.find_first_of(" \t*", begin), type.size());
    const std::string_view word = type.substr(begin, end - begin);
    at = end;
    if (word == "const") continue;
    const auto* row = std::find_if(kTypeWords.begin(), kTypeWords.end(), [&](const TypeWord& w) { return w.word == word; });
    if (row == kTypeWords.end()) {
      if (rule == TypeRule::kToday) return word;
      continue;
    }
    if (word == "unsigned") is_unsigned = true;
    if (word == "char") is_char = true;
    // "long int" and "short int" take their size from the first word, "unsigned int" from the second.
    const bool refines = !width || *width == 4;
    if (refines && (word != "int" || !width)) width = row->width_bytes;
    if (row->kind == ArgumentKind::kSigned && kind != ArgumentKind::kBool) kind = ArgumentKind::kSigned;
    if (row->kind == ArgumentKind::kBool) kind = ArgumentKind::kBool;
  }
  argument.kind = is_unsigned ? ArgumentKind::kUnsigned : kind;
  argument.width_bytes = is_char ? 1 : width.value_or(8);
  if (pointer) {
    argument.kind = is_string_type(type) ? ArgumentKind::kString : ArgumentKind::kPointer;
    argument.width_bytes = 8;
  }
  return std::nullopt;
}

/// Parses one line after another; every error names the file, the line and what was expected.
class Parser {
 public:
  Parser(std::string_view file_name, TypeRule rule) : file_name_(file_name), rule_(rule) {}

  /// The line's event; two for a `tcg` event, none never.
  Result<std::vector<Declaration>> event(std::string_view line, uint32_t number) {
    line_ = number;
    const size_t open = line.find('(');
    const std::string_view head = line.substr(0, open);
    if (open == std::string_view::npos)
      return fail(fmt::format("expected 'name(arguments) \"format\"', found '{}'", shown(stripped(line))));
    size_t name_begin = head.size();
    while (name_begin > 0 && is_word(head[name_begin - 1])) --name_begin;
    if (name_begin == head.size())
      return fail(fmt::format("expected an event name right before '(', found '{}'", shown(stripped(head))));
    Declaration event;
    event.line = number;
    event.name = head.substr(name_begin);
    if (name_begin > 0 && kBlanks.find(head[name_begin - 1]) == std::string_view::npos)
      return fail(fmt::format("expected a blank between properties and the event name, found '{}'", shown(stripped(head))));

    bool tcg = false;
    QPERF_RETURN_IF_ERROR(properties(head.substr(0, name_begin), event, tcg));
    const size_t close = line.find(')', open);
    if (close == std::string_view::npos) return fail(fmt::format("event {}: expected ')' after the arguments", event.name));
    QPERF_RETURN_IF_ERROR(arguments(line.substr(open + 1, close - open - 1), event, tcg));
    std::string second;
    QPERF_RETURN_IF_ERROR(formats(line.substr(close + 1), event, second));
    return expanded(std::move(event), std::move(second), tcg);
  }

  [[nodiscard]] Error fail(std::string message) const {
    return Error{ErrorCode::kBadFormat, fmt::format("{}:{}: {}", file_name_, line_, message)};
  }
  void at(uint32_t line) { line_ = line; }

 private:
  Result<void> properties(std::string_view text, Declaration& event, bool& tcg) const {
    while (!(text = stripped(text)).empty()) {
      const std::string_view word = text.substr(0, std::min(text.find_first_of(kBlanks), text.size()));
      text.remove_prefix(word.size());
      if (word == "disable") {
        event.disabled = true;
      } else if (word == "vcpu") {
        event.vcpu = true;
      } else if (word == "tcg") {
        tcg = true;
      } else {
        return fail(fmt::format("event {}: unknown property '{}', expected disable, vcpu or tcg", event.name, shown(word)));
      }
    }
    return {};
  }

  Result<void> arguments(std::string_view text, Declaration& event, bool tcg) const {
    if (stripped(text) == "void") return {};
    for (size_t position = 1;; ++position) {
      const size_t comma = text.find(',');
      const std::string_view item = stripped(text.substr(0, comma));
      if (item.empty())
        return fail(
            fmt::format("event {}: argument {} is empty, expected 'type name', or (void) for none", event.name, position));
      const size_t star = item.rfind('*');
      const size_t split = star != std::string_view::npos ? star + 1 : item.find_last_of(kBlanks);
      const std::string_view type = split == std::string_view::npos ? item : stripped(item.substr(0, split));
      const std::string_view name = split == std::string_view::npos ? std::string_view{} : stripped(item.substr(split));
      if (name.empty())
        return fail(fmt::format("event {}: argument '{}' has no name, expected 'type name'", event.name, shown(item)));
      // It becomes a column, a key and a label: no output looks at it again.
      if (!is_identifier(name))
        return fail(fmt::format("event {}: argument {} is named '{}', expected a C name of letters, digits and '_'", event.name,
                                position, shown(name)));
      if (position > kMaxArguments) return fail(fmt::format("event {}: more than {} arguments", event.name, kMaxArguments));
      Argument argument{.type = std::string(type), .name = std::string(name)};
      if (const auto refused = classify(argument, tcg && is_tcg_type(type) ? TypeRule::kHistoric : rule_)) {
        return fail(
            fmt::format("event {}: argument {} has type '{}', expected words like int, unsigned, uint64_t, size_t, bool, "
                        "char, void, const and '*'",
                        event.name, shown(name), shown(*refused)));
      }
      event.arguments.push_back(std::move(argument));
      if (comma == std::string_view::npos) return {};
      text.remove_prefix(comma + 1);
    }
  }

  Result<void> formats(std::string_view text, Declaration& event, std::string& second) const {
    const std::string_view source = stripped(text);
    if (!source.starts_with('"')) return {};  // QEMU takes this as "no format", without a word
    // What stands here is printed with each event. Of control characters a tab alone does no harm.
    for (size_t begin = 0; begin < source.size();) {
      const size_t end = std::min(source.find('\t', begin), source.size());
      const std::string_view part = source.substr(begin, end - begin);
      const std::string safe = printable(part);
      if (safe == part) {
        begin = end + 1;
        continue;
      }
      const auto first = static_cast<size_t>(std::ranges::mismatch(safe, part).in1 - safe.begin());
      return fail(fmt::format("event {}: the format has bytes that a terminal would obey, or that are no UTF-8, expected text: '{}'",
                              event.name, shown(part.substr(first))));
    }
    bool inside = false;
    size_t split = std::string_view::npos;
    for (size_t i = 0; i < source.size(); ++i) {
      const char c = source[i];
      if (inside && c == '\\' && i + 1 < source.size()) {
        if (source[i + 1] == 'n')
          return fail(
              fmt::format("event {}: the format contains \\n, expected none: each back end ends its own lines", event.name));
        ++i;
      } else if (c == '"') {
        inside = !inside;
      } else if (inside && c == '%' && i + 1 < source.size()) {
        if (source[i + 1] == 'm')
          return fail(fmt::format("event {}: the format uses %m, expected an argument instead", event.name));
        if (source[i + 1] == '%') ++i;
      } else if (!inside && c == ',' && stripped(source.substr(i + 1)).starts_with('"')) {
        split = i;
      }
    }
    event.format = stripped(source.substr(0, split));
    if (split != std::string_view::npos) second = stripped(source.substr(split + 1));
    return {};
  }

  /// QEMU 2.2 to 6.2 made two events of a `tcg` one: NAME_trans without the TCG arguments, NAME_exec with all of them.
  static std::vector<Declaration> expanded(Declaration event, std::string second, bool tcg) {
    std::vector<Declaration> out;
    if (!tcg) {
      if (!second.empty()) event.format = std::move(second);  // the relic: QEMU's parser keeps the last as the format
      out.push_back(std::move(event));
      return out;
    }
    Declaration trans = event;
    trans.name += "_trans";
    std::erase_if(trans.arguments, [](const Argument& a) { return is_tcg_type(a.type); });
    event.name += "_exec";
    if (!second.empty()) event.format = std::move(second);
    out.push_back(std::move(trans));
    out.push_back(std::move(event));
    return out;
  }

  std::string file_name_;
  TypeRule rule_;
  uint32_t line_ = 0;
};

bool same_shape(const Declaration& a, const Declaration& b) {
  return a.disabled == b.disabled && a.format == b.format &&
         std::equal(a.arguments.begin(), a.arguments.end(), b.arguments.begin(), b.arguments.end(),
                    [](const Argument& x, const Argument& y) { return x.type == y.type && x.name == y.name; });
}

}  // namespace

Result<Declarations> Declarations::parse(std::string_view text, std::string_view file_name, TypeRule rule) {
  Declarations out;
  Parser parser(printable(file_name), rule);
  uint32_t number = 0;
  while (!text.empty()) {
    parser.at(++number);
    const size_t end = text.find('\n');
    if (end == std::string_view::npos)
      return parser.fail("the last line does not end in a newline, as QEMU requires: the file may be cut, or add one");
    const std::string_view line = stripped(text.substr(0, end));
    text.remove_prefix(end + 1);
    if (line.empty() || line.front() == '#') continue;
    QPERF_ASSIGN_OR_RETURN(std::vector<Declaration> events, parser.event(line, number));
    for (Declaration& event : events) {
      if (const Declaration* first = out.find(event.name)) {
        // Trees hold some names twice (linux-user and bsd-user); one build never does, and only a contradiction matters.
        if (same_shape(*first, event)) continue;
        return parser.fail(
            fmt::format("event {} is declared differently in line {}, expected each name once", event.name, first->line));
      }
      const Declaration& stored = out.events_.emplace_back(std::move(event));
      out.by_name_.emplace(stored.name, &stored);
    }
  }
  return out;
}

Result<Declarations> Declarations::load(const std::string& path, TypeRule rule) {
  std::ifstream file(path, std::ios::binary);
  if (!file || std::filesystem::is_directory(path))
    return Error{ErrorCode::kIo, fmt::format("{}: cannot be read as a trace-events file", printable(path))};
  std::string text;
  std::array<char, size_t{64} << 10> block;
  while (file.read(block.data(), block.size()) || file.gcount() > 0) {
    text.append(block.data(), static_cast<size_t>(file.gcount()));
    if (text.size() > kMaxFileBytes)
      return Error{ErrorCode::kLimit, fmt::format("{}: larger than 64 MiB, which no trace-events file is", printable(path))};
  }
  return parse(text, path, rule);
}

const Declaration* Declarations::find(std::string_view name) const noexcept {
  const auto found = by_name_.find(name);
  return found == by_name_.end() ? nullptr : found->second;
}

Result<std::string> find_trace_events() {
  constexpr std::array kPlaces = {"/usr/share/qemu/trace-events-all", "/usr/local/share/qemu/trace-events-all",
                                  "/opt/qemu/share/qemu/trace-events-all"};
  std::string tried;
  for (const char* place : kPlaces) {
    std::error_code ignored;
    if (std::filesystem::is_regular_file(place, ignored)) return std::string(place);
    tried += fmt::format("{}{}", tried.empty() ? "" : ", ", place);
  }
  return Error{ErrorCode::kNotFound,
               fmt::format("no trace-events-all found (tried {}): install qemu-system-data, or give --events FILE", tried)};
}

}  // namespace qperf::qemutrace
