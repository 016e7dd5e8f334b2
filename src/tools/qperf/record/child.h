#pragma once

#include <sys/types.h>
#include <termios.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace qperf::tools {

/// A program in our own process group and session, on our own terminal: the keyboard's signals and job control reach it as if
/// qperf were not there. It gets SIGTERM if qperf dies.
class Child {
 public:
  /// `stdout_fd`: what becomes its standard output; -1: ours. Call while no other thread runs.
  [[nodiscard]] static Result<Child> start(const std::vector<std::string>& arguments, int stdout_fd);
  Child(Child&& other) noexcept : pid_(std::exchange(other.pid_, -1)) {}
  Child& operator=(Child&&) = delete;
  /// Kills and reaps what still runs.
  ~Child();

  /// -1 once it has ended.
  [[nodiscard]] pid_t pid() const noexcept { return pid_; }
  void send(int signal_number) const noexcept;
  /// Its wait status once it has ended.
  [[nodiscard]] std::optional<int> ended() noexcept;

 private:
  explicit Child(pid_t pid) noexcept : pid_(pid) {}
  pid_t pid_;
};

/// The exit code that stands for a wait status: the program's own, or 128 + the signal that killed it.
[[nodiscard]] int exit_code_of(int wait_status) noexcept;

/// Remembers how the terminal and the flags of the standard streams are, and puts that back: a QEMU that is killed cannot.
class TerminalState {
 public:
  TerminalState() noexcept;
  ~TerminalState() { restore(); }
  TerminalState(const TerminalState&) = delete;
  TerminalState& operator=(const TerminalState&) = delete;
  void restore() noexcept;

 private:
  std::optional<termios> modes_;
  int flags_[3];
};

}  // namespace qperf::tools
