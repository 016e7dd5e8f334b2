#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/records.h"

/// Payloads of counts, fingerprints, ledger and trailer chunks (docs/capture-format.md, the sections of these names).
/// Each decoder gets the chunk header's record count and reads the payload to its last byte.
namespace qperf::capture {

void encode_counts(std::span<const BlockCount> counts, ByteWriter& out);
/// Replaces the contents of `counts`, whose memory is reused.
[[nodiscard]] Result<void> decode_counts(std::span<const std::byte> payload, uint32_t record_count,
                                         std::vector<BlockCount>& counts);

[[nodiscard]] Result<void> check_fingerprints(std::span<const Fingerprint> fingerprints);
void encode_fingerprints(std::span<const Fingerprint> fingerprints, ByteWriter& out);
[[nodiscard]] Result<std::vector<Fingerprint>> decode_fingerprints(std::span<const std::byte> payload, uint32_t record_count);

[[nodiscard]] Result<void> check_ledger(const Ledger& ledger);
void encode_ledger(const Ledger& ledger, ByteWriter& out);
/// `record_count`: vCPUs.
[[nodiscard]] Result<Ledger> decode_ledger(std::span<const std::byte> payload, uint32_t record_count);

void encode_trailer(const Trailer& trailer, ByteWriter& out);
[[nodiscard]] Result<Trailer> decode_trailer(std::span<const std::byte> payload, uint32_t record_count);

}  // namespace qperf::capture
