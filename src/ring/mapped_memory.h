#pragma once

#include <cstddef>
#include <utility>

#include "base/result.h"

namespace qperf::ring {

/// Zeroed pages that take host memory only where they are touched. Owner of the mapping; move-only.
class MappedMemory {
 public:
  MappedMemory() = default;
  MappedMemory(MappedMemory&& other) noexcept
      : data_(std::exchange(other.data_, nullptr)), size_bytes_(std::exchange(other.size_bytes_, 0)) {}
  MappedMemory& operator=(MappedMemory&& other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_bytes_, other.size_bytes_);
    return *this;
  }
  MappedMemory(const MappedMemory&) = delete;
  MappedMemory& operator=(const MappedMemory&) = delete;
  ~MappedMemory();

  /// `purpose` names the mapping in the error message.
  static Result<MappedMemory> allocate(size_t size_bytes, const char* purpose);

  [[nodiscard]] std::byte* data() const noexcept { return data_; }
  [[nodiscard]] size_t size_bytes() const noexcept { return size_bytes_; }

 private:
  MappedMemory(std::byte* data, size_t size_bytes) noexcept : data_(data), size_bytes_(size_bytes) {}

  std::byte* data_ = nullptr;
  size_t size_bytes_ = 0;
};

}  // namespace qperf::ring
