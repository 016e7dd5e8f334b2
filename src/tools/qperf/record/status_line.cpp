#include "tools/qperf/record/status_line.h"

#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdio>
#include <utility>

#include "base/printable.h"
#include "tools/progress/progress_line.h"

namespace qperf::tools {
namespace {

// Back to the first column, and the rest of the line erased.
constexpr const char* kOver = "\r\x1b[K";

}  // namespace

StatusLine::StatusLine(std::string capture)
    : capture_(std::move(capture)), shown_(knows_escape_codes(STDERR_FILENO) && ::isatty(STDOUT_FILENO) != 1) {}

void StatusLine::show(uint64_t elapsed_ns, bool sampling) {
  const uint64_t second = elapsed_ns / 1'000'000'000;
  if (!shown_ || second == last_second_) return;
  last_second_ = second;
  struct stat file{};
  const uint64_t bytes = ::stat(capture_.c_str(), &file) == 0 ? static_cast<uint64_t>(file.st_size) : 0;
  fmt::print(stderr, "{}qperf: {} s, {}, {} has {} KiB", kOver, second, sampling ? "recording" : "waiting", printable(capture_),
             bytes / 1024);
}

void StatusLine::clear() {
  if (shown_ && last_second_ != ~uint64_t{0}) fmt::print(stderr, "{}", kOver);
}

}  // namespace qperf::tools
