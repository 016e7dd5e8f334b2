#include "sampling/command_line.h"

#include <fstream>
#include <iterator>
#include <string_view>

#include "base/printable.h"

namespace qperf::sampling {
namespace {

constexpr std::string_view kRedacted = "[redacted]";

bool is_option(const std::string& argument, std::string_view name) {
  return argument == "-" + std::string(name) || argument == "--" + std::string(name);
}

/// Splits `key=value,key=value`; a doubled comma belongs to the value.
std::vector<std::string_view> split_properties(std::string_view text) {
  std::vector<std::string_view> parts;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    if (i + 1 < text.size() && text[i] == ',' && text[i + 1] == ',') {
      ++i;
    } else if (i == text.size() || text[i] == ',') {
      parts.push_back(text.substr(begin, i - begin));
      begin = i + 1;
    }
  }
  return parts;
}

bool names_password(std::string_view key) { return key.ends_with("password") || key.ends_with("passwd"); }

std::string redact(std::string_view value, bool is_secret) {
  if (is_secret && value.starts_with('{')) return std::string(kRedacted);
  std::string result;
  for (const auto part : split_properties(value)) {
    if (!result.empty()) result += ',';
    const auto equals = part.find('=');
    const auto key = part.substr(0, equals);
    if (equals != std::string_view::npos && (names_password(key) || (is_secret && key == "data"))) {
      result += key;
      result += '=';
      result += kRedacted;
    } else {
      result += part;
    }
  }
  return result;
}

}  // namespace

std::vector<std::string> read_command_line() {
  std::ifstream file("/proc/self/cmdline", std::ios::binary);
  std::vector<std::string> arguments;
  std::string argument;
  while (std::getline(file, argument, '\0')) arguments.push_back(argument);
  return arguments;
}

std::string redacted_command_line(std::span<const std::string> arguments) {
  std::string line;
  for (size_t i = 0; i < arguments.size(); ++i) {
    const bool is_secret =
        i > 0 && is_option(arguments[i - 1], "object") && arguments[i].find("secret") != std::string::npos;
    const std::string shown = printable(redact(arguments[i], is_secret));
    if (i > 0) line += ' ';
    line += shown.empty() || shown.find(' ') != std::string::npos ? "'" + shown + "'" : shown;
  }
  return line;
}

bool asks_for_one_thread(std::span<const std::string> arguments) {
  for (size_t i = 0; i + 1 < arguments.size(); ++i) {
    if (is_option(arguments[i], "icount")) return true;
    if (!is_option(arguments[i], "accel")) continue;
    for (const auto part : split_properties(arguments[i + 1]))
      if (part == "thread=single") return true;
  }
  return false;
}

}  // namespace qperf::sampling
