#include "tools/qperf/record/console.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

namespace qperf::tools {
namespace {

Error console_error(int error) {
  return Error{ErrorCode::kIo, fmt::format("a terminal for QEMU's output: {}", std::strerror(error))};
}

/// A terminal's other end that changes no byte.
int open_raw(const char* name) {
  const int fd = ::open(name, O_RDWR | O_NOCTTY | O_CLOEXEC);
  termios modes{};
  if (fd < 0 || ::tcgetattr(fd, &modes) != 0) return fd;
  ::cfmakeraw(&modes);
  ::tcsetattr(fd, TCSANOW, &modes);
  return fd;
}

}  // namespace

Result<Console> Console::open() {
  if (::isatty(STDOUT_FILENO) != 1) {
    int ends[2];
    if (::pipe2(ends, O_CLOEXEC) != 0) return console_error(errno);
    ::fcntl(ends[0], F_SETFL, O_NONBLOCK);
    return Console(ends[0], ends[1]);
  }
  const int fd = ::posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return console_error(errno);
  char name[128];
  const bool ready = ::grantpt(fd) == 0 && ::unlockpt(fd) == 0 && ::ptsname_r(fd, name, sizeof name) == 0;
  Console console(fd, ready ? open_raw(name) : -1);
  if (console.child_fd_ < 0) return console_error(errno);
  ::fcntl(fd, F_SETFL, O_RDWR | O_NONBLOCK);
  console.copy_window_size();
  return console;
}

Console::Console(Console&& other) noexcept
    : fd_(std::exchange(other.fd_, -1)), child_fd_(std::exchange(other.child_fd_, -1)), waiting_(std::move(other.waiting_)) {}

Console::~Console() {
  close_child_end();
  if (fd_ >= 0) ::close(fd_);
}

void Console::close_child_end() noexcept {
  if (child_fd_ >= 0) ::close(child_fd_);
  child_fd_ = -1;
}

bool Console::pump(const std::function<void(std::string_view)>& seen) {
  if (fd_ < 0 || !waiting_.empty()) return false;
  char block[16384];
  const ssize_t got = ::read(fd_, block, sizeof block);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return false;
  if (got <= 0) {  // a terminal tells of its end by EIO
    ::close(fd_);
    fd_ = -1;
    return false;
  }
  waiting_.assign(block, static_cast<size_t>(got));
  seen(waiting_);
  flush();
  return true;
}

void Console::flush() {
  while (!waiting_.empty()) {
    const ssize_t written = ::write(STDOUT_FILENO, waiting_.data(), waiting_.size());
    if (written < 0 && errno == EINTR) continue;
    // QEMU makes its standard input non-blocking, and with it the terminal that is our standard output.
    if (written < 0 && errno == EAGAIN) return;
    if (written < 0) {
      waiting_.clear();
      return;
    }
    waiting_.erase(0, static_cast<size_t>(written));
  }
}

void Console::copy_window_size() const noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0) ::ioctl(fd_, TIOCSWINSZ, &size);
}

void ConsoleLines::take(char c) {
  const auto byte = static_cast<unsigned char>(c);
  switch (in_) {
    case In::kText:
      if (byte == 0x1b) {
        in_ = In::kEscape;
      } else if ((byte >= 0x20 || byte == '\t') && byte != 0x7f && line_.size() < kMaxLineBytes) {
        line_ += c;
      }
      return;
    case In::kEscape: in_ = c == '[' ? In::kSequence : c == ']' ? In::kString : In::kText; return;
    case In::kSequence:
      if (byte >= 0x40) in_ = In::kText;
      return;
    case In::kString:
      if (byte == 0x07 || byte == 0x1b) in_ = byte == 0x1b ? In::kEscape : In::kText;
      return;
  }
}

void ConsoleLines::feed(std::string_view bytes, const std::function<void(std::string_view, bool)>& line) {
  bool changed = false;
  for (const char c : bytes) {
    if (c == '\n') {
      in_ = In::kText;  // a sequence that was cut must not swallow the console
      line(line_, true);
      line_.clear();
      changed = false;
    } else {
      take(c);
      changed = true;
    }
  }
  if (changed && !line_.empty()) line(line_, false);
}

}  // namespace qperf::tools
