#include "capture/metadata_codec.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "base/printable.h"
#include "capture/limits.h"
#include "capture/payload_reader.h"

namespace qperf::capture {
namespace {

/// The stored type of a value: the index of MetadataValue's alternative + 1.
enum class ValueType : uint8_t { kUnsigned = 1, kSigned = 2, kBool = 3, kText = 4, kBytes = 5 };
static_assert(std::variant_size_v<MetadataValue> == static_cast<size_t>(ValueType::kBytes));

constexpr size_t kLeastPairBytes = 4;  // key length, a key of one, type, value length

bool valid_key(std::string_view key) noexcept {
  return !key.empty() && key.size() <= kMaxKeyBytes && std::all_of(key.begin(), key.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == '.';
  });
}

size_t value_bytes(const MetadataValue& value) noexcept {
  if (const auto* text = std::get_if<std::string>(&value)) return text->size();
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) return bytes->size();
  return std::holds_alternative<bool>(value) ? 1 : sizeof(uint64_t);
}

Error damaged(std::string_view what) { return Error{ErrorCode::kBadFormat, fmt::format("metadata chunk: {}", what)}; }

Error bad_value(std::string_view key) { return damaged(fmt::format("key {}: the value does not fit its type", key)); }

void encode_pair(std::string_view key, const MetadataValue& value, ByteWriter& out) {
  out.u8(static_cast<uint8_t>(key.size()));
  out.text(key);
  out.u8(static_cast<uint8_t>(value.index() + 1));
  out.varint(value_bytes(value));
  if (const auto* number = std::get_if<uint64_t>(&value)) out.u64(*number);
  if (const auto* number = std::get_if<int64_t>(&value)) out.u64(static_cast<uint64_t>(*number));
  if (const auto* flag = std::get_if<bool>(&value)) out.u8(*flag ? 1 : 0);
  if (const auto* text = std::get_if<std::string>(&value)) out.text(*text);
  if (const auto* bytes = std::get_if<std::vector<std::byte>>(&value)) out.bytes(*bytes);
}

/// nullopt inside a Result: a type from a newer version.
Result<std::optional<MetadataValue>> decode_value(std::string_view key, uint8_t type, std::span<const std::byte> stored) {
  ByteReader in(stored);
  switch (static_cast<ValueType>(type)) {
    case ValueType::kUnsigned:
    case ValueType::kSigned: {
      const auto bits = in.u64();
      if (!bits || in.remaining() != 0) return bad_value(key);
      if (static_cast<ValueType>(type) == ValueType::kUnsigned) return std::optional<MetadataValue>(*bits);
      return std::optional<MetadataValue>(static_cast<int64_t>(*bits));
    }
    case ValueType::kBool: {
      const auto bit = in.u8();
      if (!bit || *bit > 1 || in.remaining() != 0) return bad_value(key);
      return std::optional<MetadataValue>(*bit == 1);
    }
    case ValueType::kText:
      return std::optional<MetadataValue>(std::string(reinterpret_cast<const char*>(stored.data()), stored.size()));
    case ValueType::kBytes: return std::optional<MetadataValue>(std::vector<std::byte>(stored.begin(), stored.end()));
  }
  return std::optional<MetadataValue>();
}

}  // namespace

Result<void> check_metadata(const Metadata& metadata) {
  for (const auto& [key, value] : metadata) {
    if (!valid_key(key))
      return Error{ErrorCode::kUsage, fmt::format("metadata key `{}`: 1 to {} characters of a-z, 0-9, `_` and `.` are allowed",
                                                  printable(key), kMaxKeyBytes)};
    if (value_bytes(value) > kMaxMetadataValueBytes)
      return Error{ErrorCode::kLimit, fmt::format("metadata key {}: its value has {} bytes, at most {} are allowed", key,
                                                  value_bytes(value), kMaxMetadataValueBytes)};
  }
  return {};
}

Result<void> encode_metadata(const Metadata& metadata, ByteWriter& payload, const std::function<Result<void>(uint32_t)>& put) {
  // A pair more never takes a payload beyond the limit.
  constexpr size_t kFullBytes = kMaxChunkRawBytes / 4;
  static_assert(kFullBytes + kMaxMetadataValueBytes + kMaxKeyBytes + 16 <= kMaxChunkRawBytes);
  payload.clear();
  uint32_t pair_count = 0;
  for (const auto& [key, value] : metadata) {
    encode_pair(key, value, payload);
    ++pair_count;
    if (payload.size() < kFullBytes && pair_count < kMaxMetadataPairs) continue;
    QPERF_RETURN_IF_ERROR(put(pair_count));
    payload.clear();
    pair_count = 0;
  }
  return pair_count == 0 ? Result<void>() : put(pair_count);
}

Result<void> MetadataCollector::add(std::span<const std::byte> payload, uint32_t pair_count) {
  if (pair_count > kMaxMetadataPairs)
    return Error{ErrorCode::kLimit,
                 fmt::format("metadata chunk: {} pairs, at most {} are allowed", pair_count, kMaxMetadataPairs)};
  PayloadReader in(payload);
  if (pair_count > in.remaining() / kLeastPairBytes) return damaged("more pairs than it has room for");
  std::vector<std::pair<std::string, MetadataValue>> pairs;
  for (uint32_t i = 0; i < pair_count; ++i) {
    const auto key_bytes = in.bytes(in.u8());
    std::string key(reinterpret_cast<const char*>(key_bytes.data()), key_bytes.size());
    const uint8_t type = in.u8();
    const uint64_t length = in.varint();
    if (!in.ok()) return damaged(fmt::format("pair {}: cut short", i));
    if (!valid_key(key)) return damaged(fmt::format("pair {}: its key has characters that are not allowed, or none", i));
    if (length > kMaxMetadataValueBytes)
      return Error{ErrorCode::kLimit, fmt::format("metadata chunk: key {}: its value has {} bytes, at most {} are allowed", key,
                                                  length, kMaxMetadataValueBytes)};
    const auto stored = in.bytes(length);
    if (!in.ok()) return damaged(fmt::format("key {}: cut short", key));
    QPERF_ASSIGN_OR_RETURN(auto value, decode_value(key, type, stored));
    if (value) pairs.emplace_back(std::move(key), *std::move(value));
  }
  if (in.remaining() != 0) return damaged("bytes behind the last pair");

  // Both bounds are tested against the worst case, all keys new, so that a chunk is taken whole or not at all.
  size_t new_bytes = 0;
  for (const auto& [key, value] : pairs) new_bytes += key.size() + value_bytes(value);
  if (total_bytes_ + new_bytes > kMaxMetadataTotalBytes || metadata_.size() + pairs.size() > kMaxMetadataPairs)
    return Error{ErrorCode::kLimit, fmt::format("metadata chunk: the file's metadata exceeds {} keys or {} bytes",
                                                kMaxMetadataPairs, kMaxMetadataTotalBytes)};
  for (auto& [key, value] : pairs) {
    const auto old = metadata_.find(key);
    if (old != metadata_.end()) total_bytes_ -= key.size() + value_bytes(old->second);
    total_bytes_ += key.size() + value_bytes(value);
    metadata_.insert_or_assign(key, std::move(value));
  }
  return {};
}

}  // namespace qperf::capture
