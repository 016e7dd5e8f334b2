#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "qemutrace/analyzer.h"

namespace qperf::qemutrace {

/// Bytes [begin, end) of one device, written from one record on until its completion.
struct WriteRecord {
  uint64_t device = 0;  // the vdev, or the block device of block-layer events
  uint64_t begin_byte = 0;
  uint64_t end_byte = 0;
  uint64_t time_ns = 0;
  std::optional<uint64_t> done_ns;  // of requests whose completion the trace has
};

/// Finds writes that overlap a range, and pairs of writes that overlap each other while both are in flight.
///
/// Three layers can tell of a write: the virtio-blk request, the block backend (blk_co_pwritev), the block driver
/// (bdrv_co_pwritev_part; bdrv_aio_writev of old QEMUs, in sectors). The uppermost layer that the trace has is used, so that
/// one write is not counted once per layer. Only virtio-blk requests have a completion, so only they can be in flight; a trace
/// without any completion cannot tell which writes are, and gives no pairs.
class OverlapFinder final : public Analyzer {
 public:
  struct Range {
    uint64_t begin_byte = 0;
    uint64_t end_byte = ~uint64_t{0};
  };
  enum class Layer : uint8_t { kVirtio, kBackend, kDriver };
  static constexpr uint64_t kSectorBytes = 512;
  /// A hostile trace makes a pair of any two of its writes: more are counted, not kept.
  static constexpr size_t kMaxPairs = 10'000;
  static constexpr size_t kMaxInRange = 100'000;
  /// Writes followed at once. Each write is compared with all of them: several full queues, and still little work.
  static constexpr size_t kMaxOpen = 4096;

  /// `device`: only that vdev or block device.
  OverlapFinder(std::optional<Range> range, std::optional<uint64_t> device);

  void lost(const Event& event, uint64_t count) override;
  void end(const ReadReport& report) override;

  /// Meaningful after end().
  [[nodiscard]] Layer layer() const noexcept { return layer_; }
  [[nodiscard]] uint64_t writes() const noexcept { return writes_[static_cast<size_t>(layer_)]; }
  /// Writes of that layer that overlap the range, in the trace's order.
  [[nodiscard]] const std::vector<WriteRecord>& in_range() const noexcept { return in_range_[static_cast<size_t>(layer_)]; }
  /// Beyond kMaxInRange.
  [[nodiscard]] uint64_t in_range_left_out() const noexcept { return in_range_left_out_[static_cast<size_t>(layer_)]; }
  /// What is known of the end of a pair's earlier write. Without it the later one may have begun behind it.
  enum class End : uint8_t {
    kSeen,         // completed after the later one began: both were in flight
    kOpenAtEnd,    // not before the trace ended
    kNotInTrace,   // its request's address was used again: it ended somewhere between
  };
  struct Pair {
    WriteRecord earlier;
    WriteRecord later;
    End end = End::kOpenAtEnd;
    bool loss_in_span = false;  // events were lost while the earlier one was open: its end may be among them
  };
  /// Empty unless completions_seen().
  [[nodiscard]] const std::vector<Pair>& in_flight() const noexcept { return pairs_; }
  [[nodiscard]] uint64_t pairs_left_out() const noexcept { return pairs_left_out_; }
  /// Whether the trace tells of any request's end.
  [[nodiscard]] bool completions_seen() const noexcept { return completions_seen_; }
  /// Writes beyond kMaxOpen in flight: pairs with a later one are not found.
  [[nodiscard]] uint64_t not_followed() const noexcept { return not_followed_; }
  /// Losses while a request was open make pairs doubtful.
  [[nodiscard]] uint64_t losses() const noexcept { return losses_; }

 private:
  struct Open {
    WriteRecord record;
    uint64_t address = 0;
    uint64_t losses_before = 0;
    std::vector<size_t> pairs;  // those of pairs_ in which it is the earlier one
  };
  void begin_request(uint64_t address, const WriteRecord& record);
  void end_request(uint64_t address, std::optional<uint64_t> done_ns);
  void write(Layer layer, const WriteRecord& record);

  std::optional<Range> range_;
  std::optional<uint64_t> device_;
  Layer layer_ = Layer::kVirtio;
  uint64_t writes_[3] = {};
  std::vector<WriteRecord> in_range_[3];
  uint64_t in_range_left_out_[3] = {};
  std::vector<Open> open_;                // virtio requests, in any order
  std::map<uint64_t, size_t> open_place_;  // by address, into open_
  std::vector<Pair> pairs_;
  uint64_t pairs_left_out_ = 0;
  bool completions_seen_ = false;
  uint64_t not_followed_ = 0;
  uint64_t losses_ = 0;
};

}  // namespace qperf::qemutrace
