#include "qemutrace/requests.h"

#include <algorithm>

namespace qperf::qemutrace {
namespace {

constexpr uint64_t kSectorBytes = 512;
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
                                    names_.learn(event);
                                    Queue* const q = queue_at(queue);
                                    if (q == nullptr) return;
                                    q->device = device;
                                    q->number = number;
                                    q->notify_ns = event.time_ns;
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
    stop_waiting_for_host(found->second);  // done without a host submission that the trace has
  });
  on<uint64_t>("virtio_blk_req_complete", {"req"}, [this](const Event& event, uint64_t request) {
    // A flush has no event of its own before this one.
    if (const auto found = open_.find(request); found != open_.end()) take_host_times(event, found->second.request);
  });
  on<uint64_t, uint64_t>("virtqueue_fill", {"vq", "elem"},
                         [this](const Event& event, uint64_t queue, uint64_t element) { fill(event, queue, element); });
  on<uint64_t>("virtqueue_flush", {"vq"}, [this](const Event&, uint64_t queue) {
    Queue* const q = queue_at(queue);
    if (q == nullptr) return;
    q->flushed = true;
    q->notify_ns.reset();  // what is popped from here on answers another notification, or none
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

/// nullptr beyond kMaxQueues.
RequestTracker::Queue* RequestTracker::queue_at(uint64_t address) {
  const auto found = queues_.find(address);
  if (found != queues_.end()) return &found->second;
  if (queues_.size() >= kMaxQueues) {
    ++left_out_;
    return nullptr;
  }
  return &queues_[address];
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
  const Queue* const q = queue_at(queue);
  auto found = open_.find(element);
  if (found != open_.end()) {
    ++unfinished_;
    stop_waiting_for_block(found->second);
    stop_waiting_for_host(found->second);
  } else if (open_.size() >= kMaxOpen) {
    ++unfinished_;
    ++left_out_;
    return;
  } else {
    found = open_.emplace(element, Open()).first;
  }
  Open& open = found->second;
  open = Open{.request = {}, .serial = ++serial_, .losses_before = losses_};
  open.request.queue = queue;
  if (q != nullptr) {
    open.request.device = q->device;
    open.request.queue_number = q->number;
    open.request.at_ns[static_cast<size_t>(Stage::kNotify)] = q->notify_ns;
  }
  mark(open.request, Stage::kPop, event.time_ns);
  depth_changed(event.time_ns);
}

void RequestTracker::handle(const Event& event, uint64_t device, uint64_t request, uint64_t sector, uint64_t sectors,
                            bool is_write) {
  const auto found = open_.find(request);
  if (found == open_.end()) return;  // popped before the trace began: counted when it is filled
  stop_waiting_for_block(found->second);
  Request& r = found->second.request;
  r.device = device;
  r.sector = sector;
  r.sectors = sectors;
  r.is_write = is_write;
  r.is_transfer = true;
  names_.learn(event);
  if (next_sector_.size() < 2 * kMaxQueues || next_sector_.contains({device, is_write})) {
    const auto [next, first] = next_sector_.try_emplace({device, is_write}, 0);
    r.sequential = !first && next->second == sector;
    next->second = sector + sectors;
  } else {
    ++left_out_;
  }
  mark(r, Stage::kHandle, event.time_ns);
  wait_for_block(request, found->second);
}

void RequestTracker::wait_for_block(uint64_t address, Open& open) {
  if (waiting_for_block_.size() >= kMaxWaiting) {
    ++left_out_;
    stop_waiting_for_block(open_.at(waiting_for_block_.begin()->second));
  }
  waiting_for_block_.emplace(open.serial, address);
  waiting_by_range_.emplace(std::tuple(open.request.is_write, open.request.sector * kSectorBytes, open.serial), address);
  open.waits_for_block = true;
}

void RequestTracker::stop_waiting_for_block(Open& open) {
  if (!open.waits_for_block) return;
  waiting_for_block_.erase(open.serial);
  waiting_by_range_.erase({open.request.is_write, open.request.sector * kSectorBytes, open.serial});
  open.waits_for_block = false;
}

void RequestTracker::block(const Event& event, uint64_t offset, uint64_t bytes, bool is_write) {
  std::vector<std::pair<uint64_t, uint64_t>> found;  // serial, address: the oldest first
  for (auto at = waiting_by_range_.lower_bound({is_write, offset, 0}); at != waiting_by_range_.end(); ++at) {
    const auto& [direction, begin, serial] = at->first;
    if (direction != is_write || begin - offset >= bytes) break;
    found.emplace_back(serial, at->second);
  }
  if (found.empty()) return;
  std::sort(found.begin(), found.end());
  if (found.size() > 1) ++merges_;
  std::vector<uint64_t> together;
  for (const auto& [serial, address] : found) {
    Open& open = open_.at(address);
    stop_waiting_for_block(open);
    mark(open.request, Stage::kBlock, event.time_ns);
    if (const auto node = event.number("bs")) names_.uses_node(open.request.device, *node);
    open.request.merged = open.request.merged || found.size() > 1;
    together.push_back(address);
  }
  wait_for_host(open_.at(found.front().second), std::move(together));
}

void RequestTracker::wait_for_host(Open& first, std::vector<uint64_t> together) {
  stop_waiting_for_host(first);
  if (waiting_for_host_.size() >= kMaxWaiting) {
    ++left_out_;
    stop_waiting_for_host(open_.at(waiting_for_host_.begin()->second.addresses.front()));
  }
  const uint64_t offset = first.request.sector * kSectorBytes;
  waiting_for_host_.emplace(first.serial, Submission{offset, std::move(together)});
  waiting_by_offset_.emplace(offset, first.serial);
  first.leads_to_host = true;
}

void RequestTracker::stop_waiting_for_host(Open& open) {
  if (!open.leads_to_host) return;
  const auto found = waiting_for_host_.find(open.serial);
  waiting_by_offset_.erase({found->second.offset_bytes, open.serial});
  waiting_for_host_.erase(found);
  open.leads_to_host = false;
}

/// `offset` tells which block request this is.
void RequestTracker::submit(const Event& event, uint64_t key, std::optional<uint64_t> offset) {
  if (!offset) {
    if (unnamed_at_host_.size() < kMaxAtHost || unnamed_at_host_.contains(key)) {
      unnamed_at_host_[key] = event.time_ns;
    } else {
      ++left_out_;
    }
    return;
  }
  const auto oldest = waiting_by_offset_.lower_bound({*offset, 0});
  if (oldest == waiting_by_offset_.end() || oldest->first != *offset) return;
  const auto found = waiting_for_host_.find(oldest->second);
  std::vector<uint64_t> together = std::move(found->second.addresses);
  stop_waiting_for_host(open_.at(together.front()));
  for (const uint64_t address : together) {
    if (const auto open = open_.find(address); open != open_.end()) mark(open->second.request, Stage::kSubmit, event.time_ns);
  }
  if (at_host_.size() < kMaxAtHost || at_host_.contains(key)) {
    at_host_.insert_or_assign(key, std::move(together));
  } else {
    ++left_out_;
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
  Queue* const q = queue_at(queue);
  // Filled and flushed, and nobody asked for an interrupt: the guest had switched them off.
  if (q != nullptr && ((q->flushed && !q->interrupt_asked) || q->filled.size() >= kMaxFilled)) hand_out(queue, *q);
  if (q != nullptr) q->flushed = false;
  const auto found = open_.find(element);
  if (found == open_.end()) {
    ++without_start_;
    return;
  }
  Open& open = found->second;
  mark(open.request, Stage::kFill, event.time_ns);
  open.request.loss_in_span = losses_ > open.losses_before;
  stop_waiting_for_block(open);
  stop_waiting_for_host(open);
  if (q != nullptr) {
    q->filled.push_back(open.request);
    unnotified_.emplace(queue, q);
  } else {
    sink_(open.request);
  }
  open_.erase(found);
  depth_changed(event.time_ns);
}

/// An irqfd interrupt is asked for first and raised at the end of a batch; any other is raised at once.
void RequestTracker::interrupt(const Event& event, uint64_t queue, bool final) {
  Queue* const q = queue_at(queue);
  if (q == nullptr) return;
  q->interrupt_asked = true;
  unnotified_.emplace(queue, q);
  if (!final) return;
  for (Request& request : q->filled) mark(request, Stage::kInterrupt, event.time_ns);
  hand_out(queue, *q);
}

void RequestTracker::hand_out(uint64_t address, Queue& queue) {
  give(queue);
  unnotified_.erase(address);
}

void RequestTracker::give(Queue& queue) {
  for (const Request& request : queue.filled) sink_(request);
  queue.filled.clear();
  queue.interrupt_asked = false;
}

/// A trace may have as many losses as it has requests: each looks only at what it ends, and open requests compare counts.
void RequestTracker::lost(const Event&, uint64_t) {
  ++losses_;
  for (auto& [address, queue] : unnotified_) {
    for (Request& request : queue->filled) request.loss_in_span = true;
    give(*queue);
  }
  unnotified_.clear();
}

void RequestTracker::end(const ReadReport&) {
  for (auto& [address, queue] : unnotified_) give(*queue);
  unnotified_.clear();
  unfinished_ += open_.size();
}

}  // namespace qperf::qemutrace
