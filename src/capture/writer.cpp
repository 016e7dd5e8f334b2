#include "capture/writer.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>

#include "capture/chunk_codec.h"
#include "capture/header_keys.h"
#include "capture/limits.h"
#include "capture/metadata_codec.h"
#include "capture/record_codec.h"
#include "capture/sample_codec.h"

namespace qperf::capture {
namespace {

// Chunks of records of a bounded size need no look at what they encode to: varints have at most 10 bytes.
static_assert(kMaxCountsPerChunk * (10 + 5 + 10) <= kMaxChunkRawBytes);
static_assert(kMaxFingerprintsPerChunk * (10 + 10 + 1 + kMaxFingerprintBytes) <= kMaxChunkRawBytes);
static_assert(kMaxVcpus * (1 + kMaxLedgerCounters) * 10 <= kMaxChunkRawBytes);

bool fits_one_chunk(const SampleChunk& chunk) {
  size_t frames = 0;
  for (const Site& site : chunk.sites) frames += site.frames.size();
  return chunk.sites.size() <= kMaxSitesPerChunk && chunk.samples.size() <= kMaxSamplesPerChunk && frames <= kMaxFramesPerChunk;
}

/// `samples` of `whole` with the sites that they use.
SampleChunk part_of(const SampleChunk& whole, std::span<const Sample> samples) {
  constexpr uint32_t kNotYet = std::numeric_limits<uint32_t>::max();
  std::vector<uint32_t> new_index(whole.sites.size(), kNotYet);
  SampleChunk part;
  part.vcpu = whole.vcpu;
  part.samples.assign(samples.begin(), samples.end());
  for (Sample& sample : part.samples) {
    uint32_t& index = new_index[sample.site];
    if (index == kNotYet) {
      index = static_cast<uint32_t>(part.sites.size());
      part.sites.push_back(whole.sites[sample.site]);
    }
    sample.site = index;
  }
  return part;
}

}  // namespace

struct Writer::State {
  enum class Phase : uint8_t { kNew, kOpen, kFinished };

  explicit State(ByteSink& byte_sink) : sink(byte_sink) {}

  /// Refuses a call that its phase does not allow, and every call after a failure of the sink.
  Result<void> expect(Phase least, Phase greatest) const {
    if (failure) return *failure;
    if (phase >= least && phase <= greatest) return {};
    return Error{ErrorCode::kUsage, "capture writer: begin comes first, only metadata follows finish"};
  }

  Result<void> put(std::span<const std::byte> bytes) {
    if (auto written = sink.write(bytes); !written) {
      failure = written.error();
      return *failure;
    }
    bytes_written += bytes.size();
    return {};
  }

  /// Writes `payload` as a chunk.
  Result<void> put_chunk(ChunkKind kind, size_t record_count, uint32_t vcpu = kNoVcpu) {
    if (next_number == kUnnumbered) return Error{ErrorCode::kLimit, "capture writer: all chunk numbers are used up"};
    chunk.clear();
    encode_chunk({.kind = kind, .number = next_number, .record_count = static_cast<uint32_t>(record_count), .vcpu = vcpu},
                 payload.view(), compressor, chunk);
    QPERF_RETURN_IF_ERROR(put(chunk.view()));
    ++next_number;
    return {};
  }

  Result<void> put_samples(const SampleChunk& samples) {
    if (samples.samples.empty()) return {};
    if (fits_one_chunk(samples)) {
      payload.clear();
      encode_samples(samples, payload);
      if (payload.size() <= kMaxChunkRawBytes) return put_chunk(ChunkKind::kSamples, samples.samples.size(), samples.vcpu.raw);
    }
    const std::span<const Sample> all(samples.samples);
    // One sample with its one site always fits, so that halving ends; sites that no sample uses are dropped on the way.
    const size_t half = std::max<size_t>(1, all.size() / 2);
    QPERF_RETURN_IF_ERROR(put_samples(part_of(samples, all.first(half))));
    return put_samples(part_of(samples, all.subspan(half)));
  }

  Result<void> put_metadata(const Metadata& metadata) {
    return encode_metadata(metadata, payload,
                           [this](uint32_t pair_count) { return put_chunk(ChunkKind::kMetadata, pair_count); });
  }

  ByteSink& sink;
  Phase phase = Phase::kNew;
  std::optional<Error> failure;
  uint64_t bytes_written = 0;
  uint32_t next_number = 0;
  Compressor compressor;
  ByteWriter payload;  // raw payload of the chunk being built
  ByteWriter chunk;    // the chunk as stored
};

Writer::Writer(ByteSink& sink) : state_(std::make_unique<State>(sink)) {}
Writer::~Writer() = default;

uint64_t Writer::bytes_written() const noexcept { return state_->bytes_written; }

Result<void> Writer::begin(const Header& header) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kNew, State::Phase::kNew));
  QPERF_RETURN_IF_ERROR(check_header(header));
  const Metadata metadata = metadata_of(header);
  QPERF_RETURN_IF_ERROR(check_metadata(metadata));
  state_->phase = State::Phase::kOpen;
  state_->chunk.clear();
  encode_file_header(FileHeader{}, state_->chunk);
  QPERF_RETURN_IF_ERROR(state_->put(state_->chunk.view()));
  return state_->put_metadata(metadata);
}

Result<void> Writer::samples(const SampleChunk& chunk) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  QPERF_RETURN_IF_ERROR(check_samples(chunk));
  return state_->put_samples(chunk);
}

Result<void> Writer::events(const EventChunk& chunk) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  QPERF_RETURN_IF_ERROR(check_events(chunk));
  if (chunk.events.empty() && chunk.losses.empty()) return {};
  const auto put = [&](const EventChunk& part) {
    state_->payload.clear();
    encode_events(part, state_->payload);
    return state_->put_chunk(ChunkKind::kEvents, part.events.size(), part.vcpu.raw);
  };
  const auto cuts = split_events(chunk);
  if (cuts.size() == 2) return put(chunk);
  for (size_t i = 0; i + 1 < cuts.size(); ++i) QPERF_RETURN_IF_ERROR(put(event_part(chunk, cuts[i], cuts[i + 1])));
  return {};
}

Result<void> Writer::counts(std::span<const BlockCount> counts) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  while (!counts.empty()) {
    const auto part = counts.first(std::min(counts.size(), kMaxCountsPerChunk));
    counts = counts.subspan(part.size());
    state_->payload.clear();
    encode_counts(part, state_->payload);
    QPERF_RETURN_IF_ERROR(state_->put_chunk(ChunkKind::kCounts, part.size()));
  }
  return {};
}

Result<void> Writer::fingerprints(std::span<const Fingerprint> fingerprints) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  QPERF_RETURN_IF_ERROR(check_fingerprints(fingerprints));
  while (!fingerprints.empty()) {
    const auto part = fingerprints.first(std::min(fingerprints.size(), kMaxFingerprintsPerChunk));
    fingerprints = fingerprints.subspan(part.size());
    state_->payload.clear();
    encode_fingerprints(part, state_->payload);
    QPERF_RETURN_IF_ERROR(state_->put_chunk(ChunkKind::kFingerprints, part.size()));
  }
  return {};
}

Result<void> Writer::ledger(const Ledger& ledger) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  QPERF_RETURN_IF_ERROR(check_ledger(ledger));
  state_->payload.clear();
  encode_ledger(ledger, state_->payload);
  return state_->put_chunk(ChunkKind::kLedger, ledger.vcpus.size());
}

Result<void> Writer::metadata(const Metadata& metadata) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kFinished));
  QPERF_RETURN_IF_ERROR(check_metadata(metadata));
  return state_->put_metadata(metadata);
}

Result<void> Writer::finish(const Trailer& trailer) {
  QPERF_RETURN_IF_ERROR(state_->expect(State::Phase::kOpen, State::Phase::kOpen));
  QPERF_RETURN_IF_ERROR(check_ledger(trailer.ledger));
  state_->payload.clear();
  encode_trailer(trailer, state_->payload);
  QPERF_RETURN_IF_ERROR(state_->put_chunk(ChunkKind::kTrailer, trailer.ledger.vcpus.size()));
  state_->phase = State::Phase::kFinished;
  return {};
}

Result<void> Writer::finish_after_cut(const Trailer& trailer) {
  state_->failure.reset();
  return finish(trailer);
}

}  // namespace qperf::capture
