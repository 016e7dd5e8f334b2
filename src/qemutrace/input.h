#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace qperf::qemutrace {

/// Bytes of a file, a FIFO, a growing file or memory, read once from front to back through one bounded buffer. Reading, not
/// mapping: a file that shrinks while it is read is then a short read and not a signal.
class Input {
 public:
  struct Options {
    bool follow = false;  // at the end of a regular file, wait for more
    /// Called about ten times a second while there is nothing to read; false ends the input.
    std::function<bool()> on_wait;
    /// Told how many bytes of how many have been read, about once a MiB; 0 of a FIFO: not known how many.
    std::function<void(uint64_t done, uint64_t whole)> progress;
  };

  /// "-" is standard input.
  static Result<Input> open(const std::string& path, Options options);
  static Result<Input> open(const std::string& path) { return open(path, Options{}); }
  /// `bytes` must outlive the input.
  static Input memory(std::string_view bytes);

  Input(Input&& other) noexcept;
  Input& operator=(Input&&) = delete;
  Input(const Input&) = delete;
  ~Input();

  /// At least `count` contiguous bytes from the current position on, fewer only at the end. `count` is at most kMaxPeek.
  /// The view lives until the next call.
  std::span<const char> peek(size_t count) {
    if (static_cast<size_t>(end_ - begin_) < count) fill(count);
    return {begin_, static_cast<size_t>(end_ - begin_)};
  }
  void consume(size_t count) noexcept { begin_ += count; }

  /// Bytes consumed so far.
  [[nodiscard]] uint64_t offset() const noexcept { return end_offset_ - static_cast<uint64_t>(end_ - begin_); }
  /// Why reading stopped before the end, if the system refused.
  [[nodiscard]] const std::string& read_error() const noexcept { return read_error_; }

  static constexpr size_t kMaxPeek = size_t{512} << 10;

 private:
  Input() = default;
  void fill(size_t count);
  bool wait_for_more(bool regular_end);

  int fd_ = -1;
  bool owned_ = false;
  bool regular_ = false;
  bool ended_ = false;
  Options options_;
  std::vector<char> buffer_;
  const char* begin_ = nullptr;
  const char* end_ = nullptr;
  uint64_t end_offset_ = 0;  // of end_ in the file
  uint64_t whole_bytes_ = 0;  // of a regular file when it was opened
  std::string read_error_;
};

}  // namespace qperf::qemutrace
