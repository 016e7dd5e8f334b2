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
  std::optional<uint64_t> done_ns;  // of requests whose completion has an event
};

/// Finds writes that overlap a range, and pairs of writes that overlap each other while both are in flight.
///
/// Three layers can tell of a write: the virtio-blk request, the block backend (blk_co_pwritev), the block driver
/// (bdrv_co_pwritev_part; bdrv_aio_writev of old QEMUs, in sectors). The uppermost layer that the trace has is used, so that
/// one write is not counted once per layer. Only virtio-blk requests have a completion, so only they can be in flight.
class OverlapFinder final : public Analyzer {
 public:
  struct Range {
    uint64_t begin_byte = 0;
    uint64_t end_byte = ~uint64_t{0};
  };
  enum class Layer : uint8_t { kVirtio, kBackend, kDriver };
  static constexpr uint64_t kSectorBytes = 512;

  /// `device`: only that vdev or block device.
  OverlapFinder(std::optional<Range> range, std::optional<uint64_t> device);

  void lost(const Event& event, uint64_t count) override;
  void end(const ReadReport& report) override;

  /// Meaningful after end().
  [[nodiscard]] Layer layer() const noexcept { return layer_; }
  [[nodiscard]] uint64_t writes() const noexcept { return writes_[static_cast<size_t>(layer_)]; }
  /// Writes of that layer that overlap the range, in the trace's order.
  [[nodiscard]] const std::vector<WriteRecord>& in_range() const noexcept { return in_range_[static_cast<size_t>(layer_)]; }
  struct Pair {
    WriteRecord earlier;
    WriteRecord later;
  };
  [[nodiscard]] const std::vector<Pair>& in_flight() const noexcept { return pairs_; }
  /// Losses while a request was open make pairs doubtful.
  [[nodiscard]] uint64_t losses() const noexcept { return losses_; }

 private:
  void write(Layer layer, const WriteRecord& record);

  std::optional<Range> range_;
  std::optional<uint64_t> device_;
  Layer layer_ = Layer::kVirtio;
  uint64_t writes_[3] = {};
  std::vector<WriteRecord> in_range_[3];
  std::map<uint64_t, WriteRecord> open_;  // virtio requests by address
  std::vector<Pair> pairs_;
  uint64_t losses_ = 0;
};

}  // namespace qperf::qemutrace
