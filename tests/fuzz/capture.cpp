#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <map>
#include <span>
#include <vector>

#include "base/checksum.h"
#include "capture/format.h"
#include "capture/limits.h"
#include "capture/reader.h"

using namespace qperf::capture;

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// The same bytes with right magics and checksums, so that the fuzzer gets past them: every stored size that the file has room
/// for is believed.
std::vector<std::byte> repaired(std::span<const std::byte> bytes) {
  std::vector<std::byte> result(bytes.begin(), bytes.end());
  if (result.size() < kFileHeaderBytes) return result;
  qperf::ByteWriter file_header;
  encode_file_header(FileHeader{}, file_header);
  std::copy(file_header.view().begin(), file_header.view().end(), result.begin());
  size_t at = kFileHeaderBytes;
  while (result.size() - at >= kChunkHeaderBytes) {
    qperf::ByteReader in{std::span<const std::byte>(result).subspan(at + kChunkMagic.size())};
    ChunkHeader header{.kind = *in.u16(),
                       .flags = *in.u16(),
                       .number = *in.u32(),
                       .stored_bytes = *in.u32(),
                       .raw_bytes = *in.u32(),
                       .record_count = *in.u32(),
                       .vcpu = *in.u32(),
                       .reserved = *in.u32(),
                       .payload_checksum = *in.u64()};
    const auto rest = std::span(result).subspan(at + kChunkHeaderBytes);
    const bool fits = header.stored_bytes <= rest.size();
    if (fits) header.payload_checksum = qperf::xxh3_64(rest.first(header.stored_bytes));
    qperf::ByteWriter chunk_header;
    encode_chunk_header(header, chunk_header);
    std::copy(chunk_header.view().begin(), chunk_header.view().end(), result.begin() + static_cast<std::ptrdiff_t>(at));
    if (!fits) break;
    at += kChunkHeaderBytes + header.stored_bytes;
  }
  return result;
}

/// What is delivered must keep the promises of records.h and limits.h.
void read_and_check(std::span<const std::byte> bytes) {
  std::map<uint32_t, std::vector<Sample>> last;
  Handlers handlers;
  handlers.samples = [&last](const SampleChunk& chunk) {
    last[chunk.vcpu.raw] = chunk.samples;
    require(chunk.vcpu.raw < kMaxVcpus);
    for (const Site& site : chunk.sites) {
      require(site.frames.size() <= kMaxFramesPerSample && static_cast<size_t>(site.stop) < kStopReasonCount);
    }
    for (const Sample& sample : chunk.samples) require(sample.site < chunk.sites.size());
    return qperf::Result<void>();
  };
  handlers.counts = [](std::span<const BlockCount>) { return qperf::Result<void>(); };
  handlers.fingerprints = [](std::span<const Fingerprint> fingerprints) {
    for (const Fingerprint& fingerprint : fingerprints)
      require(!fingerprint.bytes.empty() && fingerprint.bytes.size() <= kMaxFingerprintBytes);
    return qperf::Result<void>();
  };
  handlers.ledger = [](const Ledger& ledger) {
    require(ledger.vcpus.size() <= kMaxVcpus);
    return qperf::Result<void>();
  };
  const auto summary = read_capture(bytes, "fuzz", handlers);
  // Passing over all chunks but the last ones must come to the same, or to nothing where the last one is damaged inside.
  Handlers only_last;
  only_last.last_samples = [&last](const PackedSamples& chunk) {
    require(std::ranges::equal(last[chunk.vcpu.raw], chunk.samples));
    return qperf::Result<void>();
  };
  require(read_capture(bytes, "fuzz", only_last).ok() == summary.ok());
  if (!summary) return require(!summary.error().message.empty());
  const Integrity& integrity = summary->integrity;
  require(integrity.skipped_bytes <= bytes.size());
  require(integrity.damaged_chunks == 0 || !integrity.first_damage.empty());
  require(integrity.finished == summary->trailer.has_value());
}

}  // namespace

/// A whole capture of any bytes, all handlers set; as it is, and with its checksums made right.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const auto bytes = std::as_bytes(std::span(data, size));
  read_and_check(bytes);
  read_and_check(repaired(bytes));
  return 0;
}
