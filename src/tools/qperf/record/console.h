#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace qperf::tools {

/// Stands between QEMU's standard output and ours: every byte goes through unchanged, and we see it. QEMU gets a terminal where
/// we have one (its keyboard stays the real one), else a pipe.
class Console {
 public:
  [[nodiscard]] static Result<Console> open();
  Console(Console&& other) noexcept;
  Console& operator=(Console&&) = delete;
  ~Console();

  /// The end for QEMU; close it here once QEMU has it.
  [[nodiscard]] int child_fd() const noexcept { return child_fd_; }
  void close_child_end() noexcept;

  /// The descriptor to poll for reading, -1 while written bytes wait or after the end.
  [[nodiscard]] int readable_fd() const noexcept { return waiting_.empty() ? fd_ : -1; }
  /// True while standard output takes no more: poll it for writing.
  [[nodiscard]] bool is_blocked() const noexcept { return !waiting_.empty(); }

  /// Reads once, hands the bytes to `seen` and writes them out. False when nothing was there to be read.
  bool pump(const std::function<void(std::string_view)>& seen);
  /// Writes on what standard output did not take before. What it refuses for good (nobody reads it any more) is dropped.
  void flush();
  /// Gives QEMU's terminal the size of ours.
  void copy_window_size() const noexcept;

 private:
  Console(int fd, int child_fd) noexcept : fd_(fd), child_fd_(child_fd) {}
  int fd_;
  int child_fd_;
  std::string waiting_;
};

/// Cuts a console's bytes into lines of text as a person sees them: without carriage returns and escape sequences.
class ConsoleLines {
 public:
  /// `line` is called with each whole line, and with an unfinished one (a prompt) as far as it has come when the bytes end.
  void feed(std::string_view bytes, const std::function<void(std::string_view line, bool whole)>& line);

  /// What is longer is cut there: the rest of the line is not looked at.
  static constexpr size_t kMaxLineBytes = 1024;

 private:
  void take(char c);
  enum class In { kText, kEscape, kSequence, kString } in_ = In::kText;
  std::string line_;
};

}  // namespace qperf::tools
