#include "qemutrace/requests.h"

#include <algorithm>

namespace qperf::qemutrace {
namespace {

constexpr uint64_t kSectorBytes = 512;
// Block requests of other devices (a snapshot file, a firmware image) never find a virtio request; those that wait for a host
// submission which the trace does not have must not pile up.
constexpr size_t kMaxWaiting = 4096;
constexpr size_t kMaxAtHost = 65536;
// From the host's completion to the device's in the same turn of the event loop; a slow log lies in between.
constexpr uint64_t kSameTurnNs = 1'000'000;

}  // namespace

std::string_view stage_span_name(Stage stage) noexcept {
  constexpr std::array<std::string_view, kStages> kNames = {"queue",     "pop",      "handle", "block layer", "host",
                                                            "host done", "complete", "filled", ""};
  return kNames[static_cast<size_t>(stage)];
}

RequestTracker::RequestTracker(Sink sink) : sink_(std::move(sink)) {
  on<uint64_t, int64_t, uint64_t>("virtio_queue_notify", {"vdev", "n", "vq"},
                                  [this](const Event& event, uint64_t device, int64_t number, uint64_t queue) {
                                    Queue& q = queues_[queue];
                                    q.device = device;
                                    q.number = number;
                                    q.notify_ns = event.time_ns;
                                    names_.learn(event);
                                  });
  on("bdrv_open_common", [this](const Event& event) { names_.learn(event); });
  on<uint64_t, uint64_t>("virtqueue_pop", {"vq", "elem"},
                         [this](const Event& event, uint64_t queue, uint64_t element) { pop(event, queue, element); });
  const auto handler = [this](bool is_write) {
    return [this, is_write](const Event& event, uint64_t device, uint64_t request, uint64_t sector, uint64_t sectors) {
      handle(event, device, request, sector, sectors, is_write);
    };
  };
  on<uint64_t, uint64_t, uint64_t, uint64_t>("virtio_blk_handle_read", {"vdev", "req", "sector", "nsectors"}, handler(false));
  on<uint64_t, uint64_t, uint64_t, uint64_t>("virtio_blk_handle_write", {"vdev", "req", "sector", "nsectors"}, handler(true));
  const auto blocks = [this](bool is_write, uint64_t unit_bytes) {
    return [this, is_write, unit_bytes](const Event& event, uint64_t offset, uint64_t size) {
      block(event, offset * unit_bytes, size * unit_bytes, is_write);
    };
  };
  on<uint64_t, uint64_t>("blk_co_preadv", {"offset", "bytes"}, blocks(false, 1));
  on<uint64_t, uint64_t>("blk_co_pwritev", {"offset", "bytes"}, blocks(true, 1));
  on<uint64_t, uint64_t>("bdrv_aio_readv", {"sector_num", "nb_sectors"}, blocks(false, kSectorBytes));
  on<uint64_t, uint64_t>("bdrv_aio_writev", {"sector_num", "nb_sectors"}, blocks(true, kSectorBytes));
  on<uint64_t, uint64_t>("luring_co_submit", {"luringcb", "offset"},
                         [this](const Event& event, uint64_t key, uint64_t offset) { submit(event, key, offset); });
  on<uint64_t>("thread_pool_submit_aio", {"req"},
               [this](const Event& event, uint64_t key) { submit(event, key, std::nullopt); });
  on<uint64_t>("thread_pool_submit", {"req"}, [this](const Event& event, uint64_t key) { submit(event, key, std::nullopt); });
  on<uint64_t>("luring_process_completion", {"aiocb"}, [this](const Event& event, uint64_t key) { host_done(event, key); });
  on<uint64_t>("thread_pool_complete_aio", {"req"}, [this](const Event& event, uint64_t key) { host_done(event, key); });
  on<uint64_t>("virtio_blk_rw_complete", {"req"}, [this](const Event& event, uint64_t request) {
    const auto found = open_.find(request);
    if (found == open_.end()) return;
    take_host_times(event, found->second.request);
    mark(found->second.request, Stage::kComplete, event.time_ns);
  });
  on<uint64_t>("virtio_blk_req_complete", {"req"}, [this](const Event& event, uint64_t request) {
    // A flush has no event of its own before this one.
    if (const auto found = open_.find(request); found != open_.end()) take_host_times(event, found->second.request);
  });
  on<uint64_t, uint64_t>("virtqueue_fill", {"vq", "elem"},
                         [this](const Event& event, uint64_t queue, uint64_t element) { fill(event, queue, element); });
  on<uint64_t>("virtqueue_flush", {"vq"}, [this](const Event&, uint64_t queue) {
    Queue& q = queues_[queue];
    q.flushed = true;
    q.notify_ns.reset();  // what is popped from here on answers another notification, or none
  });
  on<uint64_t>("virtio_notify", {"vq"}, [this](const Event& event, uint64_t queue) { interrupt(event, queue, true); });
  on<uint64_t>("virtio_notify_irqfd", {"vq"}, [this](const Event& event, uint64_t queue) { interrupt(event, queue, false); });
  on<uint64_t>("virtio_notify_irqfd_deferred_fn", {"vq"},
               [this](const Event& event, uint64_t queue) { interrupt(event, queue, true); });
}

void RequestTracker::mark(Request& request, Stage stage, uint64_t time_ns) {
  auto& at = request.at_ns[static_cast<size_t>(stage)];
  if (!at) at = time_ns;
}

void RequestTracker::depth_changed(uint64_t time_ns) {
  if (first_ns_ == 0) first_ns_ = last_depth_ns_ = time_ns;
  if (time_ns > last_depth_ns_) {
    depth_area_ns_ += static_cast<double>(last_depth_) * static_cast<double>(time_ns - last_depth_ns_);
    const size_t shown = std::min(last_depth_, kMostDepthShown);
    if (shown >= depth_ns_.size()) depth_ns_.resize(shown + 1);
    depth_ns_[shown] += time_ns - last_depth_ns_;
    last_depth_ns_ = time_ns;
  }
  last_depth_ = open_.size();
  most_in_flight_ = std::max(most_in_flight_, last_depth_);
  if (depth_.size() < kMaxDepthChanges) {
    depth_.push_back({time_ns, static_cast<uint32_t>(last_depth_)});
  } else {
    ++depth_changes_left_out_;
  }
}

double RequestTracker::mean_in_flight() const noexcept {
  return last_depth_ns_ > first_ns_ ? depth_area_ns_ / static_cast<double>(last_depth_ns_ - first_ns_) : 0;
}

void RequestTracker::pop(const Event& event, uint64_t queue, uint64_t element) {
  Queue& q = queues_[queue];
  Open open{.request = {}, .serial = ++serial_};
  open.request.device = q.device;
  open.request.queue = queue;
  open.request.queue_number = q.number;
  open.request.at_ns[static_cast<size_t>(Stage::kNotify)] = q.notify_ns;
  mark(open.request, Stage::kPop, event.time_ns);
  if (!open_.insert_or_assign(element, std::move(open)).second) ++unfinished_;
  depth_changed(event.time_ns);
}

void RequestTracker::handle(const Event& event, uint64_t device, uint64_t request, uint64_t sector, uint64_t sectors,
                            bool is_write) {
  const auto found = open_.find(request);
  if (found == open_.end()) return;  // popped before the trace began: counted when it is filled
  Request& r = found->second.request;
  r.device = device;
  r.sector = sector;
  r.sectors = sectors;
  r.is_write = is_write;
  r.is_transfer = true;
  names_.learn(event);
  const auto [next, first] = next_sector_.try_emplace({device, is_write}, 0);
  r.sequential = !first && next->second == sector;
  next->second = sector + sectors;
  mark(r, Stage::kHandle, event.time_ns);
  if (waiting_for_block_.size() >= kMaxWaiting) waiting_for_block_.erase(waiting_for_block_.begin());
  waiting_for_block_.emplace(found->second.serial, request);
}

void RequestTracker::block(const Event& event, uint64_t offset, uint64_t bytes, bool is_write) {
  Submission together;
  uint64_t first_serial = 0;
  for (auto at = waiting_for_block_.begin(); at != waiting_for_block_.end();) {
    const auto found = open_.find(at->second);
    if (found == open_.end() || found->second.serial != at->first) {
      at = waiting_for_block_.erase(at);
      continue;
    }
    Request& r = found->second.request;
    const uint64_t begin = r.sector * kSectorBytes;
    const bool inside = r.is_write == is_write && begin >= offset && begin - offset < bytes;
    if (!inside) {
      ++at;
      continue;
    }
    mark(r, Stage::kBlock, event.time_ns);
    if (const auto node = event.number("bs")) names_.uses_node(r.device, *node);
    if (together.empty()) first_serial = at->first;
    together.push_back(at->second);
    at = waiting_for_block_.erase(at);
  }
  if (together.empty()) return;
  if (together.size() > 1) {
    ++merges_;
    for (const uint64_t address : together) open_.at(address).request.merged = true;
  }
  if (waiting_for_host_.size() >= kMaxWaiting) waiting_for_host_.erase(waiting_for_host_.begin());
  waiting_for_host_.insert_or_assign(first_serial, std::move(together));
}

/// `offset` tells which block request this is.
void RequestTracker::submit(const Event& event, uint64_t key, std::optional<uint64_t> offset) {
  if (!offset) {
    if (unnamed_at_host_.size() < kMaxAtHost || unnamed_at_host_.contains(key)) unnamed_at_host_[key] = event.time_ns;
    return;
  }
  for (auto at = waiting_for_host_.begin(); at != waiting_for_host_.end();) {
    const auto first = open_.find(at->second.front());
    if (first == open_.end() || first->second.request.at(Stage::kComplete)) {
      at = waiting_for_host_.erase(at);  // done without a host submission that the trace has
      continue;
    }
    if (first->second.request.sector * kSectorBytes != *offset) {
      ++at;
      continue;
    }
    for (const uint64_t address : at->second) {
      if (const auto found = open_.find(address); found != open_.end())
        mark(found->second.request, Stage::kSubmit, event.time_ns);
    }
    if (at_host_.size() < kMaxAtHost) at_host_.insert_or_assign(key, std::move(at->second));
    waiting_for_host_.erase(at);
    return;
  }
}

void RequestTracker::host_done(const Event& event, uint64_t key) {
  if (const auto unnamed = unnamed_at_host_.find(key); unnamed != unnamed_at_host_.end()) {
    last_done_ = Done{.submit_ns = unnamed->second, .done_ns = event.time_ns, .tid = event.tid};
    unnamed_at_host_.erase(unnamed);
    return;
  }
  const auto found = at_host_.find(key);
  if (found == at_host_.end()) return;
  for (const uint64_t address : found->second) {
    if (const auto open = open_.find(address); open != open_.end()) mark(open->second.request, Stage::kHostDone, event.time_ns);
  }
  at_host_.erase(found);
}

/// The request ends: was it the last unnamed host I/O that it waited for? Requests that were merged end one after the other.
void RequestTracker::take_host_times(const Event& event, Request& request) {
  if (!last_done_ || request.at(Stage::kHostDone) || event.tid != last_done_->tid) return;
  if (event.time_ns < last_done_->done_ns || event.time_ns - last_done_->done_ns > kSameTurnNs) return;
  if (last_done_->taken && !request.merged) return;
  const auto before = request.at(Stage::kBlock) ? request.at(Stage::kBlock) : request.at(Stage::kPop);
  if (!before || last_done_->submit_ns < *before) return;
  last_done_->taken = true;
  mark(request, Stage::kSubmit, last_done_->submit_ns);
  mark(request, Stage::kHostDone, last_done_->done_ns);
}

void RequestTracker::fill(const Event& event, uint64_t queue, uint64_t element) {
  Queue& q = queues_[queue];
  // Filled and flushed, and nobody asked for an interrupt: the guest had switched them off.
  if (q.flushed && !q.interrupt_asked) hand_out(q);
  q.flushed = false;
  const auto found = open_.find(element);
  if (found == open_.end()) {
    ++without_start_;
    return;
  }
  mark(found->second.request, Stage::kFill, event.time_ns);
  q.filled.push_back(std::move(found->second.request));
  open_.erase(found);
  depth_changed(event.time_ns);
}

/// An irqfd interrupt is asked for first and raised at the end of a batch; any other is raised at once.
void RequestTracker::interrupt(const Event& event, uint64_t queue, bool final) {
  Queue& q = queues_[queue];
  q.interrupt_asked = true;
  if (!final) return;
  for (Request& request : q.filled) mark(request, Stage::kInterrupt, event.time_ns);
  hand_out(q);
}

void RequestTracker::hand_out(Queue& queue) {
  for (const Request& request : queue.filled) sink_(request);
  queue.filled.clear();
  queue.interrupt_asked = false;
}

void RequestTracker::lost(const Event&, uint64_t) {
  for (auto& [address, open] : open_) open.request.loss_in_span = true;
  for (auto& [address, queue] : queues_) {
    for (Request& request : queue.filled) request.loss_in_span = true;
    hand_out(queue);
  }
}

void RequestTracker::end(const ReadReport&) {
  for (auto& [address, queue] : queues_) hand_out(queue);
  unfinished_ += open_.size();
}

}  // namespace qperf::qemutrace
