#include <poll.h>
#include <sys/ioctl.h>
#include <termios.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <ctime>

#include "tools/qperf/top/screen.h"

namespace qperf::tools {
namespace {

constexpr char kEnter[] = "\x1b[?1049h\x1b[?25l";  // alternate screen, no cursor
constexpr char kLeave[] = "\x1b[?25h\x1b[?1049l";

constexpr std::array kEndingSignals = {SIGINT, SIGTERM, SIGHUP, SIGQUIT};
constexpr std::array kOtherSignals = {SIGTSTP, SIGCONT, SIGWINCH};
constexpr std::array kCrashes = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};

// One terminal, and handlers that can be given nothing else.
termios modes_before;
sigset_t mask_before;  // with which the wait for a key is the one place where signals are taken
volatile std::sig_atomic_t is_entered = 0;
volatile std::sig_atomic_t end_asked = 0;

/// All of it may be called from a signal handler.
void enter() {
  // After a suspension too: the shell may have been told to change them.
  if (is_entered == 0) ::tcgetattr(STDIN_FILENO, &modes_before);
  termios modes = modes_before;
  modes.c_lflag &= ~static_cast<tcflag_t>(ICANON | ECHO);
  modes.c_cc[VMIN] = 1;
  modes.c_cc[VTIME] = 0;
  ::tcsetattr(STDIN_FILENO, TCSANOW, &modes);
  [[maybe_unused]] const auto ignored = ::write(STDOUT_FILENO, kEnter, sizeof kEnter - 1);
  is_entered = 1;
}

void leave() {
  if (is_entered == 0) return;
  is_entered = 0;
  // The modes first: who sees the screen go away may use the terminal at once.
  ::tcsetattr(STDIN_FILENO, TCSANOW, &modes_before);
  [[maybe_unused]] const auto ignored = ::write(STDOUT_FILENO, kLeave, sizeof kLeave - 1);
}

void on_end(int /*number*/) { end_asked = 1; }
void on_size(int /*number*/) {}  // ends the wait for a key, so that the screen is drawn anew

void on_crash(int number) {
  leave();
  ::signal(number, SIG_DFL);
  ::raise(number);
}

void handle(int number, void (*handler)(int)) {
  struct sigaction action{};
  action.sa_handler = handler;  // without SA_RESTART: the wait for a key ends
  ::sigaction(number, &action, nullptr);
}

/// Also after a SIGSTOP, which nothing could be done about: the shell has used the terminal meanwhile.
void on_continue(int /*number*/) {
  const int error = errno;
  enter();
  errno = error;
}

/// The shell gets its terminal as it was, and gives it back at SIGCONT. The stop is left to the kernel, which does not stop a program
/// that no shell would continue: tmux or ssh runs this one without any.
void on_suspend(int number) {
  const int error = errno;
  leave();
  ::signal(number, SIG_DFL);
  sigset_t only_this;
  ::sigemptyset(&only_this);
  ::sigaddset(&only_this, number);
  ::raise(number);  // blocked while its handler runs
  ::sigprocmask(SIG_UNBLOCK, &only_this, nullptr);
  handle(number, on_suspend);
  if (is_entered == 0) enter();  // on_continue() was not needed
  errno = error;
}

}  // namespace

FullScreen::FullScreen() {
  std::atexit(leave);
  // One that came between drawing and waiting would be overlooked for a whole interval.
  sigset_t taken;
  ::sigemptyset(&taken);
  for (const int number : kEndingSignals) ::sigaddset(&taken, number);
  for (const int number : kOtherSignals) ::sigaddset(&taken, number);
  ::sigprocmask(SIG_BLOCK, &taken, &mask_before);
  for (const int number : kEndingSignals) handle(number, on_end);
  for (const int number : kCrashes) handle(number, on_crash);
  handle(SIGTSTP, on_suspend);
  handle(SIGCONT, on_continue);
  handle(SIGWINCH, on_size);
  enter();
}

FullScreen::~FullScreen() {
  leave();
  ::sigprocmask(SIG_SETMASK, &mask_before, nullptr);
}

ScreenSize FullScreen::size() noexcept {
  winsize size{};
  if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) != 0 || size.ws_row == 0 || size.ws_col == 0) return {};
  return {.rows = size.ws_row, .columns = size.ws_col};
}

void FullScreen::show(const std::vector<std::string>& lines) {
  // Each line is overwritten and its old rest erased: clearing the screen first would flicker.
  std::string text = "\x1b[H";
  for (size_t i = 0; i < lines.size(); ++i) text += (i == 0 ? "" : "\r\n") + lines[i] + "\x1b[K";
  text += "\x1b[J";
  for (size_t written = 0; written < text.size();) {
    const ssize_t count = ::write(STDOUT_FILENO, text.data() + written, text.size() - written);
    if (count < 0 && errno != EINTR) return;
    if (count > 0) written += static_cast<size_t>(count);
  }
}

std::optional<char> FullScreen::key(int timeout_ms) {
  pollfd waiting{.fd = STDIN_FILENO, .events = POLLIN, .revents = 0};
  const timespec timeout{.tv_sec = timeout_ms / 1000, .tv_nsec = timeout_ms % 1000 * 1'000'000L};
  if (::ppoll(&waiting, 1, &timeout, &mask_before) <= 0) return std::nullopt;
  char key = 0;
  const ssize_t got = ::read(STDIN_FILENO, &key, 1);
  if (got == 1) return key;
  if (got == 0 || errno != EINTR) end_asked = 1;  // the terminal is gone
  return std::nullopt;
}

bool FullScreen::must_end() noexcept { return end_asked != 0; }

}  // namespace qperf::tools
