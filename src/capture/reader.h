#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/events.h"
#include "capture/packed_samples.h"
#include "capture/records.h"

namespace qperf::capture {

/// What was wrong with a file, counted. All zero and `finished` for a whole one.
struct Integrity {
  bool finished = false;        // a trailer was read
  bool cut = false;             // the file ends inside a chunk
  uint64_t damaged_chunks = 0;  // checksum or contents wrong: skipped
  uint64_t missing_chunks = 0;  // gaps in the chunk numbers, damaged ones not counted twice
  uint64_t skipped_bytes = 0;   // bytes between chunks that belong to none
  uint64_t unknown_chunks = 0;  // kinds from a newer version: skipped
  std::string first_damage;     // where and what, for the first one; empty if none

  [[nodiscard]] bool whole() const noexcept {
    return finished && !cut && damaged_chunks == 0 && missing_chunks == 0 && skipped_bytes == 0;
  }
};

/// Called per chunk, in file order. An unset handler skips its kind without decoding the records.
struct Handlers {
  std::function<Result<void>(const SampleChunk&)> samples;
  std::function<Result<void>(const PackedSamples&)> packed_samples;  // the same chunks, for who seldom looks into a site
  /// Recognizes the sites of packed_samples: numbers[i] becomes whatever tells sites[i] from others. Called in file order, but ahead of
  /// the handlers and perhaps on another thread: what it uses is nobody else's until read_capture() returns.
  std::function<void(std::span<const PackedSite> sites, std::vector<uint32_t>& numbers)> number_sites;
  /// Instead of these, for who asks only how far samples reach: each vCPU's last whole chunk, after everything else.
  std::function<Result<void>(const PackedSamples&)> last_samples;
  std::function<Result<void>(const EventChunk&)> events;
  std::function<Result<void>(std::span<const BlockCount>)> counts;
  std::function<Result<void>(std::span<const Fingerprint>)> fingerprints;
  std::function<Result<void>(const Ledger&)> ledger;
  /// After each chunk that had a handler: how many bytes of the file are read, and how many it has (0: not known).
  std::function<void(uint64_t done, uint64_t size)> progress;
};

/// Everything that is not a stream.
struct Summary {
  Header header;
  Metadata metadata;  // every pair of the file, the last of each key wins
  std::optional<Trailer> trailer;
  std::optional<Ledger> last_ledger;  // the trailer's, or the last one before the cut
  Integrity integrity;
};

/// Reads a whole capture in one pass, memory bounded by one chunk (kMaxChunkRawBytes raw) plus metadata. A damaged or cut
/// file gives what is whole, with the damage in Summary::integrity. Errors: the file cannot be opened, is no capture, is of a
/// newer incompatible version, its header is unreadable, or a handler failed.
/// `path` "-" is refused: the file is read twice by the analysis.
[[nodiscard]] Result<Summary> read_capture(const std::string& path, const Handlers& handlers);

/// A capture that may still be written: each look gives what whole chunks have come since the one before. Memory as read_capture().
class Follower {
 public:
  /// `handlers` get the chunks of every later read_more(). Errors as read_capture(); a file that was only just made may not have
  /// its first bytes yet.
  [[nodiscard]] static Result<Follower> open(const std::string& path, Handlers handlers);
  Follower(Follower&&) noexcept;
  Follower& operator=(Follower&&) noexcept;
  ~Follower();

  /// What is known so far; valid until the next call. integrity.cut: the file ends inside a chunk just now.
  [[nodiscard]] Result<const Summary*> read_more();

 private:
  struct State;
  Follower(std::string path, std::unique_ptr<State> state) noexcept;
  std::string path_;
  std::unique_ptr<State> state_;
};

/// read_capture() on bytes in memory; `name` for messages.
[[nodiscard]] Result<Summary> read_capture(std::span<const std::byte> bytes, const std::string& name, const Handlers& handlers);

/// True if `bytes` begin like a capture of the older Rust profiler (magic `QPERF\0\x01`).
[[nodiscard]] bool is_legacy_capture(std::span<const std::byte> bytes) noexcept;

}  // namespace qperf::capture
