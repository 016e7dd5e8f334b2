#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"

namespace qperf::capture {

/// Payloads up to this size are stored as they are: a zstd frame would save little, and small files stay legible in a hex dump.
inline constexpr size_t kMinCompressBytes = 1024;

/// Compresses payloads, reusing one context and one buffer.
class Compressor {
 public:
  Compressor();
  ~Compressor();
  Compressor(const Compressor&) = delete;
  Compressor& operator=(const Compressor&) = delete;

  /// One zstd frame, or empty where storing `raw` itself is better or the format demands it (capture-format.md, "Compression").
  /// Lives until the next call.
  [[nodiscard]] std::span<const std::byte> compress(std::span<const std::byte> raw);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> buffer_;
};

/// Decompresses payloads, reusing one context and one buffer.
class Decompressor {
 public:
  Decompressor();
  ~Decompressor();
  Decompressor(const Decompressor&) = delete;
  Decompressor& operator=(const Decompressor&) = delete;

  /// `stored` must be exactly one frame of exactly `raw_bytes`. The caller has checked raw_bytes against the limits.
  /// Lives until the next call.
  [[nodiscard]] Result<std::span<const std::byte>> decompress(std::span<const std::byte> stored, size_t raw_bytes);

 private:
  struct Context;
  std::unique_ptr<Context> context_;
  std::vector<std::byte> buffer_;
};

}  // namespace qperf::capture
