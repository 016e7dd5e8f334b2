#include "tools/progress/progress_line.h"

#include <fmt/core.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "base/printable.h"

namespace qperf::tools {
namespace {

constexpr size_t kUsualColumns = 80;

size_t columns_of(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kUsualColumns;
}

/// A line that cannot be drawn is no reason to stop.
void put(int fd, const std::string& text) { [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size()); }

}  // namespace

bool knows_escape_codes(int fd) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string progress_text(std::string_view subject, std::string_view what, uint64_t done, uint64_t whole, size_t columns) {
  std::string text = fmt::format("qperf: {}: {}", subject, what);
  // In floating point: a product of two sizes of files may not fit.
  if (whole != 0) text += fmt::format(" {:.0f} %", 100.0 * static_cast<double>(std::min(done, whole)) / static_cast<double>(whole));
  // A full row would wrap on some terminals.
  if (text.size() >= columns) text.resize(columns == 0 ? 0 : columns - 1);
  return text;
}

ProgressLine::ProgressLine(std::string_view subject, int fd, Clock::duration patience)
    : subject_(printable(subject)), fd_(fd), on_terminal_(knows_escape_codes(fd)), next_(Clock::now() + patience) {}

ProgressLine::~ProgressLine() { clear(); }

void ProgressLine::clear() {
  if (drawn_) put(fd_, "\r\x1b[K");
  drawn_ = false;
}

void ProgressLine::step(std::string_view what, uint64_t done, uint64_t whole) {
  if (!on_terminal_ || Clock::now() < next_) return;
  next_ = Clock::now() + kRedraw;
  drawn_ = true;
  put(fd_, "\r" + progress_text(subject_, what, done, whole, columns_of(fd_)) + "\x1b[K");
}

}  // namespace qperf::tools
