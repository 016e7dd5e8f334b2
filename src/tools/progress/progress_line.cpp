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
constexpr std::string_view kOpening = "qperf: ";
constexpr std::string_view kCut = "...";

size_t columns_of(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col != 0 ? size.ws_col : kUsualColumns;
}

/// The end of a path says most of it: `...trace/a.bin` in at most so many bytes, which are no fewer than the columns it takes.
std::string end_of(std::string_view text, size_t most) {
  if (text.size() <= most) return std::string(text);
  if (most <= kCut.size()) return std::string(kCut.substr(0, most));
  text.remove_prefix(text.size() - (most - kCut.size()));
  while (!text.empty() && (static_cast<unsigned char>(text.front()) & 0xc0) == 0x80) text.remove_prefix(1);  // inside a character
  return std::string(kCut).append(text);
}

/// A line that cannot be drawn is no reason to stop.
void put(int fd, const std::string& text) { [[maybe_unused]] const auto written = ::write(fd, text.data(), text.size()); }

}  // namespace

bool knows_escape_codes(int fd) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(fd) == 1 && (terminal == nullptr || std::string_view(terminal) != "dumb");
}

std::string progress_text(std::string_view subject, std::string_view what, uint64_t done, uint64_t whole, size_t columns) {
  std::string news = fmt::format(": {}", what);
  // In floating point: a product of two sizes of files may not fit.
  if (whole != 0) news += fmt::format(" {:.0f} %", 100.0 * static_cast<double>(std::min(done, whole)) / static_cast<double>(whole));
  // A full row would wrap on some terminals.
  const size_t room = columns == 0 ? 0 : columns - 1;
  const size_t taken = kOpening.size() + news.size();
  std::string text = std::string(kOpening) + end_of(subject, room > taken ? room - taken : 0) + news;
  if (text.size() > room) text.resize(room);
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
