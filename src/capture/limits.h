#pragma once

#include <cstddef>
#include <cstdint>

/// Bounds that the recorder keeps and the reader enforces: whatever a file claims beyond them is refused before allocation.
/// docs/capture-format.md, "Limits", repeats them; a test compares the two.
namespace qperf::capture {

inline constexpr uint32_t kMaxVcpus = 4096;
inline constexpr size_t kMaxFramesPerSample = 4096;
inline constexpr size_t kMaxSitesPerChunk = size_t{1} << 18;
inline constexpr size_t kMaxFramesPerChunk = size_t{1} << 21;  // of all its sites together
inline constexpr size_t kMaxSamplesPerChunk = size_t{1} << 18;
inline constexpr size_t kMaxEventsPerChunk = size_t{1} << 17;
inline constexpr size_t kMaxEventStacksPerChunk = kMaxEventsPerChunk;
inline constexpr size_t kMaxEventFramesPerChunk = size_t{1} << 20;     // of all its stacks together
inline constexpr size_t kMaxEventLossesPerChunk = kMaxEventsPerChunk + 1;
inline constexpr size_t kMaxCountsPerChunk = size_t{1} << 19;
inline constexpr size_t kMaxFingerprintsPerChunk = size_t{1} << 16;
inline constexpr size_t kMaxFingerprintBytes = 64;
inline constexpr size_t kMaxLedgerCounters = 256;
inline constexpr size_t kMaxChunkRawBytes = size_t{16} << 20;
inline constexpr size_t kMaxChunkStoredBytes = kMaxChunkRawBytes;
/// Without it a small file could ask for hours of decompression.
inline constexpr size_t kMaxCompressionRatio = 256;
inline constexpr size_t kMaxFileHeaderBytes = 4096;
inline constexpr size_t kMaxKeyBytes = 64;
inline constexpr size_t kMaxMetadataValueBytes = size_t{1} << 20;
inline constexpr size_t kMaxMetadataPairs = 4096;                   // of one chunk, and different keys of one file
inline constexpr size_t kMaxMetadataTotalBytes = size_t{16} << 20;  // keys and values kept of one file

}  // namespace qperf::capture
