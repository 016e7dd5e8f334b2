#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>

#include "base/bytes.h"

namespace qperf::capture {

/// Reads the fields of one chunk payload. The first field that cannot be read makes every later one 0, so that a decoder may
/// test ok() once per record; it must test before it uses a value as a count or an index.
/// Apart from ByteReader for speed: this is what reads every number of every sample (bench/capture_bench.cpp).
class PayloadReader {
 public:
  explicit PayloadReader(std::span<const std::byte> payload) noexcept : at_(payload.data()), end_(at_ + payload.size()) {}

  [[nodiscard]] bool ok() const noexcept { return ok_; }
  /// Where the next field begins.
  [[nodiscard]] const std::byte* at() const noexcept { return at_; }
  [[nodiscard]] size_t remaining() const noexcept { return static_cast<size_t>(end_ - at_); }

  uint8_t u8() noexcept { return static_cast<uint8_t>(fixed(1)); }
  uint64_t u64() noexcept { return fixed(8); }

  uint64_t varint() noexcept {
    if (remaining() < sizeof(uint64_t)) [[unlikely]]
      return long_varint();
    const uint64_t word = load_le64();
    if ((word & 0x80) == 0) {
      ++at_;
      return word & 0x7f;
    }
    const uint64_t last_bytes = ~word & 0x8080808080808080;
    if (last_bytes == 0) [[unlikely]]
      return long_varint();
    // Without a loop: the lengths of addresses and times are too irregular for branch prediction.
    at_ += static_cast<size_t>(std::countr_zero(last_bytes)) / 8 + 1;
    const uint64_t sevens = word & (last_bytes ^ (last_bytes - 1)) & 0x7f7f7f7f7f7f7f7f;
    const uint64_t fourteens = (sevens & 0x007f007f007f007f) | ((sevens & 0x7f007f007f007f00) >> 1);
    const uint64_t twenty_eights = (fourteens & 0x00003fff00003fff) | ((fourteens & 0x3fff00003fff0000) >> 2);
    return (twenty_eights & 0x0fffffff) | ((twenty_eights & 0x0fffffff00000000) >> 4);
  }

  /// Passes over `count` varints, each checked as varint() would.
  void skip_varints(size_t count) noexcept {
    while (count > 0 && ok_) {
      const uint64_t last_bytes = remaining() < sizeof(uint64_t) ? 0 : ~load_le64() & 0x8080808080808080;
      // The number of bits, as the top byte of a sum: a processor-neutral build has no instruction for it.
      const auto whole = static_cast<size_t>(((last_bytes >> 7) * 0x0101010101010101) >> 56);
      if (whole == 0 || whole > count) {
        (void)varint();
        --count;
        continue;
      }
      at_ += sizeof(uint64_t) - static_cast<size_t>(std::countl_zero(last_bytes)) / 8;
      count -= whole;
    }
  }

  /// A varint of at most 32 bits.
  uint32_t varint32() noexcept {
    const uint64_t value = varint();
    if (value > 0xffffffff) [[unlikely]]
      fail();
    return static_cast<uint32_t>(value);
  }

  /// `base` plus a zigzag difference, modulo 2^64.
  uint64_t delta(uint64_t base) noexcept {
    const uint64_t value = varint();
    return base + ((value >> 1) ^ (~(value & 1) + 1));
  }

  std::span<const std::byte> bytes(size_t count) noexcept {
    if (count > remaining()) {
      fail();
      return {};
    }
    const std::span view(at_, count);
    at_ += count;
    return view;
  }

 private:
  void fail() noexcept {
    ok_ = false;
    at_ = end_;  // so that nothing after can be read
  }

  [[nodiscard]] uint64_t load_le64() const noexcept {
    uint64_t word = 0;
    std::memcpy(&word, at_, sizeof(word));
    return std::endian::native == std::endian::little ? word : __builtin_bswap64(word);
  }

  uint64_t fixed(size_t count) noexcept {
    uint64_t value = 0;
    unsigned shift = 0;
    for (const std::byte byte : bytes(count)) {
      value |= std::to_integer<uint64_t>(byte) << shift;
      shift += 8;
    }
    return value;
  }

  /// Any varint: those of nine and ten bytes, and those near the payload's end.
  [[gnu::noinline]] uint64_t long_varint() noexcept {
    ByteReader in(std::span(at_, end_));
    const auto value = in.varint();
    at_ += in.position();
    if (!value) fail();
    return value.value_or(0);
  }

  const std::byte* at_;
  const std::byte* end_;
  bool ok_ = true;
};

/// The twin of PayloadReader::delta.
inline void write_delta(ByteWriter& out, uint64_t base, uint64_t value) { out.zigzag(static_cast<int64_t>(value - base)); }

}  // namespace qperf::capture
