#include "tools/qperf/terminal.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>

#include "base/printable.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/colours.h"

namespace qperf::tools {
namespace {

constexpr std::string_view kRed = "\x1b[31m";
constexpr std::string_view kYellow = "\x1b[33m";
constexpr std::string_view kPlain = "\x1b[0m";

void print_line(std::string_view colour, std::string_view kind, std::string_view message) {
  const bool coloured = may_colour(STDERR_FILENO);
  const std::string line = fmt::format("qperf: {}{}:{} {}\n", coloured ? colour : "", kind, coloured ? kPlain : "", printable(message));
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace

bool may_colour(int fd) {
  const char* no_colour = std::getenv("NO_COLOR");
  if (no_colour != nullptr && *no_colour != '\0') return false;
  return knows_escape_codes(fd);
}

Colours stdout_colours() { return may_colour(STDOUT_FILENO) ? Colours::kAnsi : Colours::kNone; }

int report_error(const Error& error) {
  print_line(kRed, "error", error.message);
  return error.code == ErrorCode::kUsage ? kUsage : kFailed;
}

void report_warning(std::string_view message) { print_line(kYellow, "warning", message); }

}  // namespace qperf::tools
