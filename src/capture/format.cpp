#include "capture/format.h"

#include <fmt/core.h>

#include <algorithm>
#include <cstring>

#include "base/checksum.h"
#include "capture/limits.h"
#include "capture/reader.h"

namespace qperf::capture {
namespace {

constexpr size_t kChecksumBytes = 8;

bool begins_with(std::span<const std::byte> bytes, std::span<const std::byte> magic) noexcept {
  return bytes.size() >= magic.size() && std::equal(magic.begin(), magic.end(), bytes.begin());
}

/// True if the eight bytes at `offset` are the checksum of everything before them.
bool checksum_fits(std::span<const std::byte> bytes, size_t offset) noexcept {
  ByteReader stored(bytes.subspan(offset));
  return stored.u64() == xxh3_64(bytes.first(offset));
}

}  // namespace

void encode_file_header(const FileHeader& header, ByteWriter& out) {
  ByteWriter bytes;
  bytes.bytes(kFileMagic);
  bytes.u16(header.version);
  bytes.u16(header.least_reader_version);
  bytes.u32(header.header_bytes);
  bytes.u64(header.features);
  const uint64_t checksum = xxh3_64(bytes.view());
  out.bytes(bytes.view());
  out.u64(checksum);
}

Result<FileHeader> decode_file_header(std::span<const std::byte> bytes) {
  if (is_legacy_capture(bytes))
    return Error{ErrorCode::kUnsupported, "is a capture of the older Rust profiler, not of format version 5"};
  if (!begins_with(bytes, std::span(kFileMagic).first(std::min(bytes.size(), kFileMagic.size()))) || bytes.empty())
    return Error{ErrorCode::kBadFormat, "is no qperf capture: it does not begin with the magic QPERF 00 05 00"};
  const auto truncated = [&] {
    return Error{ErrorCode::kTruncated,
                 fmt::format("ends inside the file header, after {} bytes: nothing was recorded", bytes.size())};
  };
  if (bytes.size() < kFileHeaderBytes) return truncated();

  ByteReader in(bytes.subspan(kFileMagic.size()));
  FileHeader header;
  header.version = *in.u16();
  header.least_reader_version = *in.u16();
  header.header_bytes = *in.u32();
  header.features = *in.u64();
  const Error damaged{ErrorCode::kBadFormat, "the file header is damaged: its checksum does not fit"};
  if (header.header_bytes < kFileHeaderBytes || header.header_bytes > kMaxFileHeaderBytes) return damaged;
  if (bytes.size() < header.header_bytes) return truncated();
  if (!checksum_fits(bytes, header.header_bytes - kChecksumBytes)) return damaged;

  if (header.least_reader_version > kFormatVersion)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("has format version {}, which needs a reader of at least version {}; this one "
                             "reads version {}: use a newer qperf",
                             header.version, header.least_reader_version, kFormatVersion)};
  if (header.version < kFormatVersion)
    return Error{ErrorCode::kBadFormat,
                 fmt::format("has format version {} behind the magic of version {}", header.version, kFormatVersion)};
  if (const uint64_t unknown = header.features & kNeededFeatures & ~kKnownFeatures; unknown != 0)
    return Error{ErrorCode::kUnsupported,
                 fmt::format("uses features that this reader does not know (bits {:#x}): use a newer qperf", unknown)};
  return header;
}

void encode_chunk_header(const ChunkHeader& header, ByteWriter& out) {
  ByteWriter bytes;
  bytes.bytes(kChunkMagic);
  bytes.u16(header.kind);
  bytes.u16(header.flags);
  bytes.u32(header.number);
  bytes.u32(header.stored_bytes);
  bytes.u32(header.raw_bytes);
  bytes.u32(header.record_count);
  bytes.u32(header.vcpu);
  bytes.u32(header.reserved);
  bytes.u64(header.payload_checksum);
  const uint64_t checksum = xxh3_64(bytes.view());
  out.bytes(bytes.view());
  out.u64(checksum);
}

bool has_chunk_magic(std::span<const std::byte> bytes) noexcept { return begins_with(bytes, kChunkMagic); }

std::optional<ChunkHeader> decode_chunk_header(std::span<const std::byte> bytes) noexcept {
  if (bytes.size() < kChunkHeaderBytes || !has_chunk_magic(bytes)) return std::nullopt;
  if (!checksum_fits(bytes.first(kChunkHeaderBytes), kChunkHeaderBytes - kChecksumBytes)) return std::nullopt;
  ByteReader in(bytes.subspan(kChunkMagic.size()));
  ChunkHeader header;
  header.kind = *in.u16();
  header.flags = *in.u16();
  header.number = *in.u32();
  header.stored_bytes = *in.u32();
  header.raw_bytes = *in.u32();
  header.record_count = *in.u32();
  header.vcpu = *in.u32();
  header.reserved = *in.u32();
  header.payload_checksum = *in.u64();
  return header;
}

size_t find_chunk_header(std::span<const std::byte> bytes) noexcept {
  size_t at = 0;
  while (bytes.size() - at >= kChunkHeaderBytes) {
    const void* hit = std::memchr(bytes.data() + at, std::to_integer<int>(kChunkMagic[0]), bytes.size() - at);
    if (hit == nullptr) break;
    at = static_cast<size_t>(static_cast<const std::byte*>(hit) - bytes.data());
    if (decode_chunk_header(bytes.subspan(at))) return at;
    ++at;
  }
  return bytes.size();
}

}  // namespace qperf::capture
