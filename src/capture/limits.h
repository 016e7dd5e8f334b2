#pragma once

#include <cstddef>
#include <cstdint>

/// Bounds that the recorder keeps and the reader enforces: whatever a file claims beyond them is refused before allocation.
namespace qperf::capture {

inline constexpr uint32_t kMaxVcpus = 4096;
inline constexpr size_t kMaxFramesPerSample = 4096;
inline constexpr size_t kMaxSitesPerChunk = size_t{1} << 20;
inline constexpr size_t kMaxSamplesPerChunk = size_t{1} << 20;
inline constexpr size_t kMaxChunkRawBytes = size_t{16} << 20;
inline constexpr size_t kMaxFingerprintBytes = 64;
inline constexpr size_t kMaxKeyBytes = 64;
inline constexpr size_t kMaxMetadataValueBytes = size_t{1} << 20;
inline constexpr size_t kMaxMetadataPairs = 4096;

}  // namespace qperf::capture
