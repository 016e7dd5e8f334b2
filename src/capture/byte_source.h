#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"

namespace qperf::capture {

/// Bytes read front to back, with a look ahead.
class ByteSource {
 public:
  virtual ~ByteSource() = default;

  /// The next `count` bytes without taking them, fewer only at the end. May be more than `count`. Lives until the next call.
  [[nodiscard]] virtual Result<std::span<const std::byte>> peek(size_t count) = 0;

  /// Takes `count` bytes, which the last peek showed.
  virtual void skip(size_t count) noexcept = 0;

  /// Bytes taken so far.
  [[nodiscard]] virtual uint64_t position() const noexcept = 0;

  /// Goes back, or forth, to where `position` bytes are taken. Errors: a file that only goes forth.
  [[nodiscard]] virtual Result<void> seek(uint64_t position) = 0;
};

/// Bytes in memory, which must outlive the source.
class MemorySource final : public ByteSource {
 public:
  explicit MemorySource(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  Result<std::span<const std::byte>> peek(size_t /*count*/) override { return bytes_.subspan(position_); }
  void skip(size_t count) noexcept override { position_ += count; }
  [[nodiscard]] uint64_t position() const noexcept override { return position_; }
  Result<void> seek(uint64_t position) override {
    position_ = std::min<size_t>(position, bytes_.size());
    return {};
  }

 private:
  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

/// A file. Not mapped: a file that another process cuts while it is read must give an end, not a signal.
/// Memory: the greatest `count` asked for, doubled at most, and never more than that beyond what the file holds.
class FileSource final : public ByteSource {
 public:
  [[nodiscard]] static Result<FileSource> open(const std::string& path);
  FileSource(FileSource&& other) noexcept;
  FileSource& operator=(FileSource&&) = delete;
  ~FileSource() override;

  Result<std::span<const std::byte>> peek(size_t count) override;
  void skip(size_t count) noexcept override;
  [[nodiscard]] uint64_t position() const noexcept override { return position_; }
  Result<void> seek(uint64_t position) override;
  /// What the file holds now; 0: not a regular file, or not known.
  [[nodiscard]] uint64_t size() const noexcept;

 private:
  explicit FileSource(int descriptor) noexcept : descriptor_(descriptor) {}
  void make_room();

  int descriptor_;
  std::vector<std::byte> buffer_;
  size_t begin_ = 0;  // [begin_, end_) of buffer_ is read and not yet taken
  size_t end_ = 0;
  uint64_t position_ = 0;
};

}  // namespace qperf::capture
