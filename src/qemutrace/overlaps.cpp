#include "qemutrace/overlaps.h"

namespace qperf::qemutrace {
namespace {

/// [begin, begin + size), cut at 2^64 instead of wrapping: the numbers are the trace's.
WriteRecord extent(uint64_t device, uint64_t begin, uint64_t size, uint64_t unit_bytes, uint64_t time_ns) {
  WriteRecord out{.device = device, .time_ns = time_ns, .done_ns = {}};
  if (__builtin_mul_overflow(begin, unit_bytes, &out.begin_byte)) out.begin_byte = ~uint64_t{0};
  if (__builtin_mul_overflow(size, unit_bytes, &size)) size = ~uint64_t{0};
  if (__builtin_add_overflow(out.begin_byte, size, &out.end_byte)) out.end_byte = ~uint64_t{0};
  return out;
}

bool overlap(uint64_t a_begin, uint64_t a_end, uint64_t b_begin, uint64_t b_end) { return a_begin < b_end && b_begin < a_end; }

}  // namespace

OverlapFinder::OverlapFinder(std::optional<Range> range, std::optional<uint64_t> device) : range_(range), device_(device) {
  on<uint64_t, uint64_t, uint64_t, uint64_t>(
      "virtio_blk_handle_write", {"vdev", "req", "sector", "nsectors"},
      [this](const Event& event, uint64_t device_of, uint64_t request, uint64_t sector, uint64_t count) {
        const WriteRecord record = extent(device_of, sector, count, kSectorBytes, event.time_ns);
        if (device_ && device_of != *device_) return;
        for (const auto& [address, other] : open_) {
          if (address == request || other.device != device_of) continue;
          if (overlap(record.begin_byte, record.end_byte, other.begin_byte, other.end_byte)) pairs_.push_back({other, record});
        }
        open_.insert_or_assign(request, record);
        write(Layer::kVirtio, record);
      });
  on<uint64_t>("virtio_blk_req_complete", {"req"}, [this](const Event&, uint64_t request) { open_.erase(request); });
  const auto bytes = [this](Layer layer) {
    return [this, layer](const Event& event, uint64_t device_of, uint64_t offset, uint64_t size) {
      write(layer, extent(device_of, offset, size, 1, event.time_ns));
    };
  };
  on<uint64_t, uint64_t, uint64_t>("blk_co_pwritev", {"blk", "offset", "bytes"}, bytes(Layer::kBackend));
  on<uint64_t, uint64_t, uint64_t>("bdrv_co_pwritev_part", {"bs", "offset", "bytes"}, bytes(Layer::kDriver));
  on<uint64_t, uint64_t, uint64_t>("bdrv_co_pwritev", {"bs", "offset", "bytes"}, bytes(Layer::kDriver));
  on<uint64_t, uint64_t, uint64_t>("bdrv_aio_writev", {"bs", "sector_num", "nb_sectors"},
                                   [this](const Event& event, uint64_t device_of, uint64_t sector, uint64_t count) {
                                     write(Layer::kDriver, extent(device_of, sector, count, kSectorBytes, event.time_ns));
                                   });
}

void OverlapFinder::write(Layer layer, const WriteRecord& record) {
  if (device_ && record.device != *device_) return;
  ++writes_[static_cast<size_t>(layer)];
  if (range_ && overlap(record.begin_byte, record.end_byte, range_->begin_byte, range_->end_byte))
    in_range_[static_cast<size_t>(layer)].push_back(record);
}

void OverlapFinder::lost(const Event&, uint64_t) { ++losses_; }

void OverlapFinder::end(const ReadReport&) {
  for (const Layer layer : {Layer::kDriver, Layer::kBackend, Layer::kVirtio}) {
    if (writes_[static_cast<size_t>(layer)] > 0) layer_ = layer;
  }
}

}  // namespace qperf::qemutrace
