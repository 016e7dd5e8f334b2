#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/records.h"

/// Payload of samples chunks (docs/capture-format.md, "Samples chunk").
namespace qperf::capture {

/// Refuses what a reader would: an unknown site, too many sites, frames or samples.
[[nodiscard]] Result<void> check_samples(const SampleChunk& chunk);

/// Appends the payload. `chunk` has passed check_samples.
void encode_samples(const SampleChunk& chunk, ByteWriter& out);

/// Decodes payloads into one SampleChunk whose memory is reused: no allocation per sample, none per site once warm.
/// Keeps at most kMaxFramesPerChunk frames of spare room between chunks, whatever sequence of chunks a file holds.
class SampleDecoder {
 public:
  /// `sample_count` is the chunk header's record count. The result lives until the next call.
  Result<const SampleChunk*> decode(std::span<const std::byte> payload, VcpuIndex vcpu, uint32_t sample_count);

 private:
  Result<void> decode_sites(class PayloadReader& in);
  Result<void> decode_samples(class PayloadReader& in, uint32_t sample_count);
  void resize_sites(size_t count);

  SampleChunk chunk_;
  std::vector<Site> spare_sites_;  // a smaller chunk parks its unused sites here: their vectors keep their room
  size_t frame_capacity_ = 0;      // of all sites, used and spare
};

}  // namespace qperf::capture
