#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/result.h"
#include "capture/events.h"
#include "capture/records.h"

namespace qperf::capture {

/// Where a Writer's bytes go. Called from one thread.
class ByteSink {
 public:
  virtual ~ByteSink() = default;
  /// Writes all of `bytes` or fails; after a failure the Writer writes no more.
  virtual Result<void> write(std::span<const std::byte> bytes) = 0;
};

/// Encodes a capture, chunk by chunk. Each call hands one or more whole chunks to the sink. One thread.
/// The Writer keeps no record: memory is bounded by the largest chunk.
class Writer {
 public:
  explicit Writer(ByteSink& sink);
  ~Writer();
  Writer(const Writer&) = delete;
  Writer& operator=(const Writer&) = delete;

  /// File header and the metadata chunk of `header`. Must come first, once.
  Result<void> begin(const Header& header);
  /// Splits into several chunks where a bound of limits.h would be exceeded.
  Result<void> samples(const SampleChunk& chunk);
  Result<void> events(const EventChunk& chunk);
  Result<void> counts(std::span<const BlockCount> counts);
  Result<void> fingerprints(std::span<const Fingerprint> fingerprints);
  Result<void> ledger(const Ledger& ledger);
  Result<void> metadata(const Metadata& metadata);
  /// The finished mark. Only metadata() may follow.
  Result<void> finish(const Trailer& trailer);
  /// The same after a failure of the sink, which has been cut back to the bytes_written() that are whole chunks.
  Result<void> finish_after_cut(const Trailer& trailer);

  /// Of whole chunks.
  [[nodiscard]] uint64_t bytes_written() const noexcept;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Appends metadata to an existing capture (after its trailer too). Fails if `path` is no version 5 capture.
Result<void> append_metadata(const char* path, const Metadata& metadata);

}  // namespace qperf::capture
