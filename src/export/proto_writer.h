#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "export/text_sink.h"

namespace qperf::exporter {

/// Appends fields of one protobuf message to a buffer. Field numbers are 1 .. 2^29 - 1. A field that has its default value
/// is written all the same: leaving it out is the caller's choice.
class ProtoWriter {
 public:
  void number(uint32_t field, uint64_t value) {
    tag(field, kVarint);
    varint(value);
  }
  /// int64 and int32 fields: negative ones take ten bytes.
  void signed_number(uint32_t field, int64_t value) { number(field, static_cast<uint64_t>(value)); }
  void fixed64(uint32_t field, uint64_t value);
  /// A string, bytes, or the bytes of an inner message.
  void bytes(uint32_t field, std::string_view value) {
    length(field, value.size());
    buffer_ += value;
  }
  void message(uint32_t field, const ProtoWriter& inner) { bytes(field, inner.buffer_); }
  /// The beginning of bytes(): `size` bytes are to follow.
  void length(uint32_t field, size_t size) {
    tag(field, kLengthDelimited);
    varint(size);
  }
  /// A repeated number in packed form; nothing for no values.
  void packed(uint32_t field, std::span<const uint64_t> values);

  [[nodiscard]] const std::string& data() const noexcept { return buffer_; }
  [[nodiscard]] bool empty() const noexcept { return buffer_.empty(); }
  void clear() noexcept { buffer_.clear(); }

 private:
  enum WireType : uint32_t { kVarint = 0, kFixed64 = 1, kLengthDelimited = 2 };

  void tag(uint32_t field, WireType type) { varint((uint64_t{field} << 3) | type); }
  void varint(uint64_t value) {
    while (value >= 0x80) {
      buffer_.push_back(static_cast<char>((value & 0x7f) | 0x80));
      value >>= 7;
    }
    buffer_.push_back(static_cast<char>(value));
  }

  std::string buffer_;
};

/// Writes one field with a message, without a copy of it.
void write_message(TextSink& sink, uint32_t field, const ProtoWriter& message);

}  // namespace qperf::exporter
