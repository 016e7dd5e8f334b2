#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace qperf {

/// Reads little-endian integers from untrusted bytes; every read is bounds-checked and nullopt means "not enough bytes left".
class ByteReader {
 public:
  explicit ByteReader(std::span<const std::byte> bytes) noexcept : bytes_(bytes) {}

  [[nodiscard]] size_t position() const noexcept { return position_; }
  [[nodiscard]] size_t remaining() const noexcept { return bytes_.size() - position_; }

  std::optional<uint8_t> u8() noexcept { return little_endian<uint8_t>(); }
  std::optional<uint16_t> u16() noexcept { return little_endian<uint16_t>(); }
  std::optional<uint32_t> u32() noexcept { return little_endian<uint32_t>(); }
  std::optional<uint64_t> u64() noexcept { return little_endian<uint64_t>(); }

  /// LEB128, at most 10 bytes; nullopt also for a value that does not fit 64 bits.
  std::optional<uint64_t> varint() noexcept {
    uint64_t value = 0;
    for (unsigned shift = 0; shift < 70; shift += 7) {
      if (position_ == bytes_.size()) return std::nullopt;
      const auto byte = std::to_integer<uint64_t>(bytes_[position_++]);
      if (shift == 63 && byte > 1) return std::nullopt;
      value |= (byte & 0x7f) << shift;
      if (byte < 0x80) return value;
    }
    return std::nullopt;
  }

  /// Zigzag-coded difference: 0, -1, 1, -2 ... as 0, 1, 2, 3.
  std::optional<int64_t> zigzag() noexcept {
    const auto value = varint();
    if (!value) return std::nullopt;
    return static_cast<int64_t>((*value >> 1) ^ (~(*value & 1) + 1));
  }

  std::optional<std::span<const std::byte>> bytes(size_t count) noexcept {
    if (count > remaining()) return std::nullopt;
    const auto view = bytes_.subspan(position_, count);
    position_ += count;
    return view;
  }

 private:
  template <typename T>
  std::optional<T> little_endian() noexcept {
    if (remaining() < sizeof(T)) return std::nullopt;
    uint64_t value = 0;
    for (size_t i = 0; i < sizeof(T); ++i) value |= std::to_integer<uint64_t>(bytes_[position_ + i]) << (8 * i);
    position_ += sizeof(T);
    return static_cast<T>(value);
  }

  std::span<const std::byte> bytes_;
  size_t position_ = 0;
};

/// Appends little-endian integers to a growing buffer; the twin of ByteReader.
class ByteWriter {
 public:
  void u8(uint8_t value) { little_endian(value); }
  void u16(uint16_t value) { little_endian(value); }
  void u32(uint32_t value) { little_endian(value); }
  void u64(uint64_t value) { little_endian(value); }

  void varint(uint64_t value) {
    while (value >= 0x80) {
      bytes_.push_back(static_cast<std::byte>((value & 0x7f) | 0x80));
      value >>= 7;
    }
    bytes_.push_back(static_cast<std::byte>(value));
  }

  void zigzag(int64_t value) {
    const auto bits = static_cast<uint64_t>(value);
    varint((bits << 1) ^ (value < 0 ? ~uint64_t{0} : 0));
  }

  void bytes(std::span<const std::byte> data) { bytes_.insert(bytes_.end(), data.begin(), data.end()); }
  void text(std::string_view data) { bytes(std::as_bytes(std::span(data.data(), data.size()))); }

  [[nodiscard]] std::span<const std::byte> view() const noexcept { return bytes_; }
  [[nodiscard]] size_t size() const noexcept { return bytes_.size(); }
  /// Keeps the capacity, so that a reused writer stops allocating.
  void clear() noexcept { bytes_.clear(); }

 private:
  template <typename T>
  void little_endian(T value) {
    for (size_t i = 0; i < sizeof(T); ++i)
      bytes_.push_back(static_cast<std::byte>((static_cast<uint64_t>(value) >> (8 * i)) & 0xff));
  }

  std::vector<std::byte> bytes_;
};

}  // namespace qperf
