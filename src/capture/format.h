#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/bytes.h"
#include "base/result.h"

/// The framing of docs/capture-format.md: file header and chunk headers. Encoder and decoder side by side.
namespace qperf::capture {

inline constexpr uint16_t kFormatVersion = 5;
inline constexpr uint16_t kLeastReaderVersion = 5;
inline constexpr std::array<std::byte, 8> kFileMagic = {std::byte{'Q'}, std::byte{'P'}, std::byte{'E'}, std::byte{'R'},
                                                        std::byte{'F'}, std::byte{0},   std::byte{5},   std::byte{0}};
inline constexpr std::array<std::byte, 4> kChunkMagic = {std::byte{0x9e}, std::byte{'Q'}, std::byte{'P'}, std::byte{'C'}};
inline constexpr size_t kFileHeaderBytes = 32;
inline constexpr size_t kChunkHeaderBytes = 48;

/// Features whose bit lies in this half change how a file is read: a reader that does not know one refuses the file.
inline constexpr uint64_t kNeededFeatures = 0xffffffff;
/// Those of kNeededFeatures that this reader knows.
inline constexpr uint64_t kKnownFeatures = 0;

enum class ChunkKind : uint16_t {
  kMetadata = 1,
  kSamples = 2,
  kEvents = 3,
  kCounts = 4,
  kFingerprints = 5,
  kLedger = 6,
  kTrailer = 7,
};

inline constexpr uint16_t kFlagZstd = 1;
/// The vcpu field of chunks that belong to no vCPU.
inline constexpr uint32_t kNoVcpu = 0xffffffff;
/// The number of metadata chunks that were appended to a recorded file: they stand outside the numbering.
inline constexpr uint32_t kUnnumbered = 0xffffffff;

struct FileHeader {
  uint16_t version = kFormatVersion;
  uint16_t least_reader_version = kLeastReaderVersion;
  uint32_t header_bytes = kFileHeaderBytes;
  uint64_t features = 0;
};

void encode_file_header(const FileHeader& header, ByteWriter& out);

/// `bytes`: the first kMaxFileHeaderBytes of the file, or all of a shorter one.
[[nodiscard]] Result<FileHeader> decode_file_header(std::span<const std::byte> bytes);

struct ChunkHeader {
  uint16_t kind = 0;  // a ChunkKind, or one from a newer version
  uint16_t flags = 0;
  uint32_t number = 0;
  uint32_t stored_bytes = 0;
  uint32_t raw_bytes = 0;
  uint32_t record_count = 0;
  uint32_t vcpu = kNoVcpu;
  uint32_t reserved = 0;
  uint64_t payload_checksum = 0;
};

void encode_chunk_header(const ChunkHeader& header, ByteWriter& out);

/// nullopt: too short, no chunk magic, or a wrong header checksum. Says nothing about the fields' values.
[[nodiscard]] std::optional<ChunkHeader> decode_chunk_header(std::span<const std::byte> bytes) noexcept;

[[nodiscard]] bool has_chunk_magic(std::span<const std::byte> bytes) noexcept;

/// Where the first chunk header with a right checksum begins in `bytes`; bytes.size() if there is none.
[[nodiscard]] size_t find_chunk_header(std::span<const std::byte> bytes) noexcept;

}  // namespace qperf::capture
