#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "capture/packed_samples.h"
#include "capture/records.h"

/// Payload of samples chunks (docs/capture-format.md, "Samples chunk").
namespace qperf::capture {

/// Refuses what a reader would: an unknown site, too many sites, frames or samples.
[[nodiscard]] Result<void> check_samples(const SampleChunk& chunk);

/// Appends the payload. `chunk` has passed check_samples.
void encode_samples(const SampleChunk& chunk, ByteWriter& out);

/// Decodes payloads; memory is reused: no allocation per sample, none per site once warm.
/// Keeps at most kMaxFramesPerChunk frames of spare room between chunks, whatever sequence of chunks a file holds.
class SampleDecoder {
 public:
  /// `sample_count` is the chunk header's record count. The result lives until the next call, and no longer than `payload`.
  Result<PackedSamples> decode(std::span<const std::byte> payload, VcpuIndex vcpu, uint32_t sample_count);

  /// What decode() gave, with every site unpacked. Lives until the next call of either.
  const SampleChunk& unpack(const PackedSamples& packed);

 private:
  Result<void> decode_sites(class PayloadReader& in);
  Result<void> decode_samples(class PayloadReader& in, uint32_t sample_count);
  void resize_sites(size_t count);

  std::vector<PackedSite> packed_sites_;
  std::vector<Sample> samples_;
  SampleChunk chunk_;
  std::vector<Site> spare_sites_;  // a smaller chunk parks its unused sites here: their vectors keep their room
  size_t frame_capacity_ = 0;      // of all sites, used and spare
};

/// The payload bytes of a site behind its pc, for a site that was in no file.
void pack_site(const Site& site, ByteWriter& rest);

/// The inverse; `packed` comes from SampleDecoder::decode() or pack_site(). Reuses the memory of `site`.
void unpack_site(const PackedSite& packed, Site& site);

}  // namespace qperf::capture
