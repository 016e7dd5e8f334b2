#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/records.h"

/// Payload of metadata chunks (docs/capture-format.md, "Metadata chunk").
namespace qperf::capture {

[[nodiscard]] Result<void> check_metadata(const Metadata& metadata);

/// Encodes checked `metadata` into `payload`, chunk by chunk within the limits; `put` gets the number of pairs of each.
[[nodiscard]] Result<void> encode_metadata(const Metadata& metadata, ByteWriter& payload,
                                           const std::function<Result<void>(uint32_t pair_count)>& put);

/// Pairs of all metadata chunks of one file, within kMaxMetadataPairs and kMaxMetadataTotalBytes.
class MetadataCollector {
 public:
  /// Takes all pairs of a payload, or none and says why not. Pairs of unknown type are passed over.
  [[nodiscard]] Result<void> add(std::span<const std::byte> payload, uint32_t pair_count);

  [[nodiscard]] const Metadata& metadata() const& noexcept { return metadata_; }
  [[nodiscard]] Metadata&& metadata() && noexcept { return std::move(metadata_); }

 private:
  Metadata metadata_;
  size_t total_bytes_ = 0;
};

}  // namespace qperf::capture
