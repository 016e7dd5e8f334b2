#include "capture/compression.h"

#include <zstd.h>

#include "capture/limits.h"

namespace qperf::capture {
namespace {

constexpr int kLevel = 1;  // the recorder shares the host's processors with the guest

}  // namespace

struct Compressor::Context {
  ZSTD_CCtx* zstd = ZSTD_createCCtx();
  ~Context() { ZSTD_freeCCtx(zstd); }
};

Compressor::Compressor() : context_(std::make_unique<Context>()) {}
Compressor::~Compressor() = default;

std::span<const std::byte> Compressor::compress(std::span<const std::byte> raw) {
  if (raw.size() <= kMinCompressBytes || context_->zstd == nullptr) return {};
  const size_t bound = ZSTD_compressBound(raw.size());
  if (buffer_.size() < bound) buffer_.resize(bound);
  const size_t size = ZSTD_compressCCtx(context_->zstd, buffer_.data(), buffer_.size(), raw.data(), raw.size(), kLevel);
  if (ZSTD_isError(size) != 0 || size >= raw.size() || raw.size() / size >= kMaxCompressionRatio) return {};
  return std::span(buffer_).first(size);
}

struct Decompressor::Context {
  ZSTD_DCtx* zstd = ZSTD_createDCtx();
  ~Context() { ZSTD_freeDCtx(zstd); }
};

Decompressor::Decompressor() : context_(std::make_unique<Context>()) {}
Decompressor::~Decompressor() = default;

Result<std::span<const std::byte>> Decompressor::decompress(std::span<const std::byte> stored, size_t raw_bytes) {
  if (context_->zstd == nullptr) return Error{ErrorCode::kLimit, "no memory for decompression"};
  const auto bad = [] { return Error{ErrorCode::kBadFormat, "the payload is no zstd frame of the stated size"}; };
  if (ZSTD_getFrameContentSize(stored.data(), stored.size()) != raw_bytes) return bad();
  if (ZSTD_findFrameCompressedSize(stored.data(), stored.size()) != stored.size()) return bad();
  if (buffer_.size() < raw_bytes) buffer_.resize(raw_bytes);
  // The whole output is at hand, so zstd needs no window of its own whatever size the frame claims for it.
  const size_t size = ZSTD_decompressDCtx(context_->zstd, buffer_.data(), raw_bytes, stored.data(), stored.size());
  if (ZSTD_isError(size) != 0 || size != raw_bytes) return bad();
  return std::span<const std::byte>(buffer_).first(raw_bytes);
}

}  // namespace qperf::capture
