#pragma once

#include <optional>
#include <string_view>

#include "base/result.h"

namespace qperf::sampling {

/// Whether another thread of this process sleeps, as the kernel knows it (/proc/self/task/ID/stat).
class ThreadState {
 public:
  ThreadState() = default;
  ~ThreadState();
  ThreadState(const ThreadState&) = delete;
  ThreadState& operator=(const ThreadState&) = delete;

  /// `thread_id` is gettid()'s. Once.
  Result<void> open(int thread_id);
  /// True: it waits for something. False: it runs, or waits only for the host to let it run, or its state cannot be read.
  /// A system call of some microseconds, no allocation.
  [[nodiscard]] bool sleeps() const noexcept;

  /// The letter of proc_pid_stat(5) in the file's first bytes; nullopt if they are not what that page says.
  [[nodiscard]] static std::optional<char> letter(std::string_view stat) noexcept;

 private:
  int file_ = -1;
};

}  // namespace qperf::sampling
