#pragma once

#include <cstdint>
#include <span>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/compression.h"
#include "capture/format.h"

namespace qperf::capture {

struct ChunkInfo {
  ChunkKind kind;
  uint32_t number;
  uint32_t record_count;
  uint32_t vcpu = kNoVcpu;
};

/// Appends a whole chunk: header, then `raw` compressed or as it is. `raw` has at most kMaxChunkRawBytes.
void encode_chunk(const ChunkInfo& info, std::span<const std::byte> raw, Compressor& compressor, ByteWriter& out);

/// True for a kind whose payload this version reads.
[[nodiscard]] bool is_known_kind(uint16_t kind) noexcept;

/// Refuses a header whose lengths break a bound, for known and unknown kinds; to be asked before its payload is read.
[[nodiscard]] Result<void> check_lengths(const ChunkHeader& header);

/// Refuses reserved bits, a vCPU where none belongs or none where one does, and numbers outside the rules. Known kinds only.
[[nodiscard]] Result<void> check_fields(const ChunkHeader& header);

/// The raw payload of a checked header; lives as long as `stored` and until the decompressor's next call.
[[nodiscard]] Result<std::span<const std::byte>> raw_payload(const ChunkHeader& header, std::span<const std::byte> stored,
                                                             Decompressor& decompressor);

}  // namespace qperf::capture
