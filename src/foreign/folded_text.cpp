#include "foreign/folded_text.h"

#include <algorithm>
#include <charconv>

namespace qperf::foreign {

std::optional<FoldedReader::Line> FoldedReader::parse(std::string_view line) {
  while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.remove_suffix(1);
  const size_t blank = line.rfind(' ');
  if (blank == std::string_view::npos || blank == 0) return std::nullopt;
  Line parsed{.stack = line.substr(0, blank), .count = 0};
  const char* end = line.data() + line.size();
  const auto [after, error] = std::from_chars(line.data() + blank + 1, end, parsed.count);
  if (error != std::errc() || after != end) return std::nullopt;
  return parsed;
}

Result<void> FoldedReader::line(std::string_view line, bool cut) {
  ++lines_;
  if (line.find_first_not_of(" \t\r") == std::string_view::npos || line.front() == '#') return {};
  const auto parsed = cut ? std::nullopt : parse(line);
  if (!parsed) {
    counts_.cut_lines += cut ? 1 : 0;
    if (counts_.bad_lines++ == 0) counts_.first_bad_line = lines_;
    return {};
  }
  HostSample sample;
  sample.weight = parsed->count;
  std::string_view stack = parsed->stack;
  for (bool more = true; more;) {
    const size_t end = stack.rfind(';');
    more = end != std::string_view::npos;
    const std::string_view frame = more ? stack.substr(end + 1) : stack;
    if (sample.frames.size() == kMaxHostFrames) {
      ++counts_.cut_stacks;
      break;
    }
    sample.frames.push_back({.function = frame, .module = {}});
    if (more) stack = stack.substr(0, end);
  }
  if (parsed->count == 0) return {};
  ++counts_.samples;
  return sink_.sample(sample);
}

}  // namespace qperf::foreign
