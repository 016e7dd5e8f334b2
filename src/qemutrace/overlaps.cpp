#include "qemutrace/overlaps.h"

#include <algorithm>
#include <tuple>
#include <utility>

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
        begin_request(request, record);
        write(Layer::kVirtio, record);
      });
  on<uint64_t>("virtio_blk_req_complete", {"req"},
               [this](const Event& event, uint64_t request) { end_request(request, event.time_ns); });
  // Written, but for an error that QEMU may try again; virtio_blk_req_complete follows at once.
  on<uint64_t, int64_t>("virtio_blk_rw_complete", {"req", "ret"}, [this](const Event& event, uint64_t request, int64_t result) {
    if (result == 0) end_request(request, event.time_ns);
  });
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

void OverlapFinder::begin_request(uint64_t address, const WriteRecord& record) {
  if (open_place_.contains(address)) end_request(address, std::nullopt);
  for (Open& open : open_) {
    if (open.record.device != record.device) continue;
    if (!overlap(record.begin_byte, record.end_byte, open.record.begin_byte, open.record.end_byte)) continue;
    if (pairs_.size() >= kMaxPairs) {
      ++pairs_left_out_;
      continue;
    }
    open.pairs.push_back(pairs_.size());
    pairs_.push_back({.earlier = open.record, .later = record});
  }
  if (open_.size() >= kMaxOpen) {
    ++not_followed_;
    return;
  }
  open_place_.emplace(address, open_.size());
  open_.push_back({.record = record, .address = address, .losses_before = losses_, .pairs = {}});
}

/// `done_ns` nullopt: the address is in use again, and when the request ended is not known.
void OverlapFinder::end_request(uint64_t address, std::optional<uint64_t> done_ns) {
  if (done_ns) completions_seen_ = true;
  const auto found = open_place_.find(address);
  if (found == open_place_.end()) return;
  const size_t place = found->second;
  open_place_.erase(found);
  for (const size_t index : open_[place].pairs) {
    Pair& pair = pairs_[index];
    pair.earlier.done_ns = done_ns;
    pair.end = done_ns ? End::kSeen : End::kNotInTrace;
    pair.loss_in_span = losses_ > open_[place].losses_before;
  }
  if (place + 1 < open_.size()) {
    open_[place] = std::move(open_.back());
    open_place_[open_[place].address] = place;
  }
  open_.pop_back();
}

void OverlapFinder::write(Layer layer, const WriteRecord& record) {
  if (device_ && record.device != *device_) return;
  const auto of = static_cast<size_t>(layer);
  ++writes_[of];
  if (!range_ || !overlap(record.begin_byte, record.end_byte, range_->begin_byte, range_->end_byte)) return;
  if (in_range_[of].size() < kMaxInRange) {
    in_range_[of].push_back(record);
  } else {
    ++in_range_left_out_[of];
  }
}

void OverlapFinder::lost(const Event&, uint64_t) { ++losses_; }

void OverlapFinder::end(const ReadReport&) {
  for (const Layer layer : {Layer::kDriver, Layer::kBackend, Layer::kVirtio}) {
    if (writes_[static_cast<size_t>(layer)] > 0) layer_ = layer;
  }
  for (const Open& open : open_) {
    for (const size_t index : open.pairs) pairs_[index].loss_in_span = losses_ > open.losses_before;
  }
  std::stable_sort(pairs_.begin(), pairs_.end(), [](const Pair& a, const Pair& b) {
    return std::tie(a.later.time_ns, a.earlier.time_ns) < std::tie(b.later.time_ns, b.earlier.time_ns);
  });
  if (completions_seen_) return;
  // Every write seems open until its address is used again: any two would look as if they were in flight together.
  pairs_.clear();
  pairs_left_out_ = 0;
}

}  // namespace qperf::qemutrace
