#include "capture/chunk_codec.h"

#include <fmt/core.h>

#include "base/checksum.h"
#include "capture/limits.h"

namespace qperf::capture {

void encode_chunk(const ChunkInfo& info, std::span<const std::byte> raw, Compressor& compressor, ByteWriter& out) {
  const auto compressed = compressor.compress(raw);
  const auto stored = compressed.empty() ? raw : compressed;
  ChunkHeader header;
  header.kind = static_cast<uint16_t>(info.kind);
  header.flags = compressed.empty() ? 0 : kFlagZstd;
  header.number = info.number;
  header.stored_bytes = static_cast<uint32_t>(stored.size());
  header.raw_bytes = static_cast<uint32_t>(raw.size());
  header.record_count = info.record_count;
  header.vcpu = info.vcpu;
  header.payload_checksum = xxh3_64(stored);
  encode_chunk_header(header, out);
  out.bytes(stored);
}

bool is_known_kind(uint16_t kind) noexcept {
  switch (static_cast<ChunkKind>(kind)) {
    case ChunkKind::kMetadata:
    case ChunkKind::kSamples:
    case ChunkKind::kEvents:
    case ChunkKind::kCounts:
    case ChunkKind::kFingerprints:
    case ChunkKind::kLedger:
    case ChunkKind::kTrailer: return true;
  }
  return false;
}

Result<void> check_lengths(const ChunkHeader& header) {
  if (header.stored_bytes > kMaxChunkStoredBytes || header.raw_bytes > kMaxChunkRawBytes)
    return Error{ErrorCode::kLimit, fmt::format("a chunk of {} bytes ({} raw), at most {} are allowed", header.stored_bytes,
                                                header.raw_bytes, kMaxChunkRawBytes)};
  return {};
}

Result<void> check_fields(const ChunkHeader& header) {
  const auto refuse = [](const char* what) { return Error{ErrorCode::kBadFormat, what}; };
  if ((header.flags & ~kFlagZstd) != 0 || header.reserved != 0) return refuse("reserved bits are set");
  const auto kind = static_cast<ChunkKind>(header.kind);
  const bool has_vcpu = kind == ChunkKind::kSamples || kind == ChunkKind::kEvents;
  if (has_vcpu ? header.vcpu >= kMaxVcpus : header.vcpu != kNoVcpu)
    return refuse("the vCPU number does not belong to its kind");
  if (header.number == kUnnumbered && kind != ChunkKind::kMetadata)
    return refuse("a chunk without number that is no metadata");
  return {};
}

Result<std::span<const std::byte>> raw_payload(const ChunkHeader& header, std::span<const std::byte> stored,
                                               Decompressor& decompressor) {
  if ((header.flags & kFlagZstd) == 0) {
    if (header.stored_bytes != header.raw_bytes)
      return Error{ErrorCode::kBadFormat, "raw and stored sizes of an uncompressed chunk differ"};
    return stored;
  }
  if (header.raw_bytes / kMaxCompressionRatio > stored.size())
    return Error{ErrorCode::kLimit, fmt::format("{} bytes compressed to {}, at most {} to 1 is allowed", header.raw_bytes,
                                                stored.size(), kMaxCompressionRatio)};
  return decompressor.decompress(stored, header.raw_bytes);
}

}  // namespace qperf::capture
