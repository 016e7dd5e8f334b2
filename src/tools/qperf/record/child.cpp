#include "tools/qperf/record/child.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstring>

#include "base/printable.h"

namespace qperf::tools {
namespace {

/// In the child: never returns. What fails is told to the parent through `report_fd`, which a successful exec closes.
[[noreturn]] void become(char* const* words, int stdout_fd, pid_t parent, int report_fd) {
  sigset_t none;
  sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, SIGTERM);
  if (::getppid() != parent) ::_exit(1);  // it died before that took effect
  if (stdout_fd < 0 || ::dup2(stdout_fd, STDOUT_FILENO) >= 0) ::execv(words[0], words);
  const int error = errno;
  [[maybe_unused]] const ssize_t ignored = ::write(report_fd, &error, sizeof error);
  ::_exit(127);
}

}  // namespace

Result<Child> Child::start(const std::vector<std::string>& arguments, int stdout_fd) {
  const auto failed = [&](int error) {
    return Error{ErrorCode::kIo, fmt::format("{}: {}", printable(arguments.front()), std::strerror(error))};
  };
  std::vector<char*> words;
  for (const std::string& argument : arguments) words.push_back(const_cast<char*>(argument.c_str()));
  words.push_back(nullptr);
  int report[2];
  if (::pipe2(report, O_CLOEXEC) != 0) return failed(errno);
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) become(words.data(), stdout_fd, parent, report[1]);
  const int fork_error = errno;
  ::close(report[1]);
  int error = 0;
  ssize_t got = -1;
  while (pid > 0 && (got = ::read(report[0], &error, sizeof error)) < 0 && errno == EINTR) {
  }
  ::close(report[0]);
  if (pid < 0) return failed(fork_error);
  Child child(pid);
  if (got == static_cast<ssize_t>(sizeof error)) return failed(error);
  return child;
}

Child::~Child() {
  if (pid_ < 0 || ended()) return;
  send(SIGKILL);
  int status = 0;
  while (::waitpid(pid_, &status, 0) < 0 && errno == EINTR) {
  }
}

void Child::send(int signal_number) const noexcept {
  if (pid_ > 0) ::kill(pid_, signal_number);
}

std::optional<int> Child::ended() noexcept {
  int status = 0;
  if (pid_ < 0 || ::waitpid(pid_, &status, WNOHANG) != pid_) return std::nullopt;
  pid_ = -1;
  return status;
}

int exit_code_of(int wait_status) noexcept {
  return WIFSIGNALED(wait_status) ? 128 + WTERMSIG(wait_status) : WEXITSTATUS(wait_status);
}

TerminalState::TerminalState() noexcept {
  termios modes{};
  if (::tcgetattr(STDIN_FILENO, &modes) == 0) modes_ = modes;
  for (int fd = 0; fd < 3; ++fd) flags_[fd] = ::fcntl(fd, F_GETFL);
}

void TerminalState::restore() noexcept {
  for (int fd = 0; fd < 3; ++fd) {
    if (flags_[fd] >= 0) ::fcntl(fd, F_SETFL, flags_[fd]);
  }
  // From the background that would stop us.
  if (modes_ && ::tcgetpgrp(STDIN_FILENO) == ::getpgrp()) ::tcsetattr(STDIN_FILENO, TCSADRAIN, &*modes_);
}

}  // namespace qperf::tools
