#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/result.h"
#include "capture/compression.h"
#include "capture/events.h"
#include "capture/format.h"
#include "capture/packed_samples.h"
#include "capture/records.h"
#include "capture/sample_codec.h"

namespace qperf::capture {

/// What decoding one chunk needs, and the result.
struct ChunkRoom {
  ChunkKind kind = ChunkKind::kSamples;
  uint64_t position = 0;  // of the chunk in the file
  PackedSamples packed_samples;             // kSamples
  const EventChunk* event_chunk = nullptr;  // kEvents
  Ledger ledger;                            // kLedger, kTrailer
  std::vector<BlockCount> counts;
  std::vector<Fingerprint> fingerprints;

  Decompressor decompressor;
  std::vector<uint32_t> site_numbers;
  std::vector<std::byte> stored;  // of a payload that is not compressed
  SampleDecoder samples;
  EventDecoder events;
};

/// Hands a decoded chunk to whom it concerns.
using HandleChunk = std::function<Result<void>(ChunkRoom&)>;

/// How decoded chunks come from the reading to the handlers. The reading asks for a room, decodes one chunk in it and delivers.
class Delivery {
 public:
  virtual ~Delivery() = default;
  /// Where the next chunk is decoded; the same one until deliver().
  virtual ChunkRoom& room() = 0;
  /// Has the room handled, now or later, in the order of delivery; it is not used again before. Error: a handler's, perhaps
  /// for an earlier chunk; the reading ends.
  [[nodiscard]] virtual Result<void> deliver() = 0;
};

/// Calls at once.
class DirectDelivery final : public Delivery {
 public:
  explicit DirectDelivery(HandleChunk handle) : handle_(std::move(handle)) {}
  ChunkRoom& room() override { return room_; }
  Result<void> deliver() override { return handle_(room_); }

 private:
  HandleChunk handle_;
  ChunkRoom room_;
};

/// A second thread costs more than it saves where a file holds less than this.
inline constexpr uint64_t kWorthAThread = uint64_t{256} << 10;

/// Lets a second thread read and decode while the calling thread handles what was decoded before.
/// `produce` runs on the second thread and delivers there; `handle` runs on the calling thread. Returns when both have ended, with
/// the first error of `handle`, else what `produce` gave. Memory: two rooms. An exception of either side is thrown to the caller.
[[nodiscard]] Result<void> deliver_ahead(const std::function<Result<void>(Delivery&)>& produce, const HandleChunk& handle);

}  // namespace qperf::capture
