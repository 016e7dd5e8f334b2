#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/bytes.h"

namespace qperf::capture {

/// Reads the fields of one chunk payload. The first field that cannot be read makes every later one 0, so that a decoder may
/// test ok() once per record; it must test before it uses a value as a count or an index.
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> payload) noexcept : in_(payload) {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  [[nodiscard]] size_t remaining() const noexcept { return in_.remaining(); }
  [[nodiscard]] size_t position() const noexcept { return in_.position(); }

  uint8_t u8() noexcept { return value_or_zero(in_.u8()); }
  uint64_t u64() noexcept { return value_or_zero(in_.u64()); }
  uint64_t varint() noexcept { return value_or_zero(in_.varint()); }

  /// A varint of at most 32 bits.
  uint32_t varint32() noexcept {
    const uint64_t value = varint();
    if (value > 0xffffffff) ok_ = false;
    return static_cast<uint32_t>(value);
  }

  /// `base` plus a zigzag difference, modulo 2^64.
  uint64_t delta(uint64_t base) noexcept { return base + static_cast<uint64_t>(value_or_zero(in_.zigzag())); }

  std::span<const std::byte> bytes(size_t count) noexcept { return value_or_zero(in_.bytes(count)); }

 private:
  template <typename T>
  T value_or_zero(std::optional<T> value) noexcept {
    if (!value) [[unlikely]]
      ok_ = false;
    return ok_ ? *value : T{};
  }

  ByteReader in_;
  bool ok_ = true;
};

/// The twin of PayloadReader::delta.
inline void write_delta(ByteWriter& out, uint64_t base, uint64_t value) { out.zigzag(static_cast<int64_t>(value - base)); }

}  // namespace qperf::capture
