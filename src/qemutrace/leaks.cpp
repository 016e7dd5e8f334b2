#include "qemutrace/leaks.h"

#include <algorithm>
#include <tuple>
#include <utility>

namespace qperf::qemutrace {

LeakFinder::LeakFinder(uint64_t open_longer_ns) : open_longer_ns_(open_longer_ns) {
  on<uint64_t, uint64_t>("virtqueue_pop", {"vq", "elem"}, [this](const Event& event, uint64_t queue, uint64_t element) {
    ++pops_;
    last_ns_ = std::max(last_ns_, event.time_ns);
    if (addresses_.size() < kMaxAddresses) addresses_.insert(element);
    const Open opened{.queue = queue, .popped_ns = event.time_ns, .losses_before = losses_, .resets_before = resets_of(queue)};
    if (const auto found = open_.find(element); found != open_.end()) {
      report_leak(element, found->second, event.time_ns, true);
      found->second = opened;
    } else if (open_.size() < kMaxOpen) {
      open_.emplace(element, opened);
    } else {
      ++pops_left_out_;
    }
    most_open_ = std::max(most_open_, open_.size());
  });
  on<uint64_t>("virtqueue_fill", {"elem"}, [this](const Event& event, uint64_t element) {
    ++fills_;
    last_ns_ = std::max(last_ns_, event.time_ns);
    const auto found = open_.find(element);
    if (found == open_.end()) {
      ++fills_without_pop_;
      return;
    }
    open_ns_.add(event.time_ns - std::min(event.time_ns, found->second.popped_ns));
    open_.erase(found);
  });
  on<uint64_t, uint64_t>("virtio_queue_notify", {"vdev", "vq"}, [this](const Event&, uint64_t device, uint64_t queue) {
    if (device_of_queue_.size() < kMaxQueues || device_of_queue_.contains(queue)) device_of_queue_[queue] = device;
  });
  on<uint64_t, uint64_t>("virtio_set_status", {"vdev", "val"}, [this](const Event&, uint64_t device, uint64_t status) {
    if (status != 0) return;  // writing 0 resets a virtio device
    if (resets_of_device_.size() < kMaxQueues || resets_of_device_.contains(device)) ++resets_of_device_[device];
  });
}

void LeakFinder::lost(const Event&, uint64_t) { ++losses_; }

/// Of the queue's device, as far as it is known.
uint64_t LeakFinder::resets_of(uint64_t queue) const {
  const auto device = device_of_queue_.find(queue);
  if (device == device_of_queue_.end()) return 0;
  const auto resets = resets_of_device_.find(device->second);
  return resets == resets_of_device_.end() ? 0 : resets->second;
}

void LeakFinder::report_leak(uint64_t element, const Open& open, uint64_t until_ns, bool reused) {
  if (leaks_.size() >= kMaxLeaks) {
    ++leaks_left_out_;
    return;
  }
  Leak leak{.element = element, .queue = open.queue, .popped_ns = open.popped_ns};
  leak.open_ns = until_ns - std::min(until_ns, open.popped_ns);
  leak.reused = reused;
  leak.open_longer = leak.open_ns > open_longer_ns_;
  leak.loss_in_span = losses_ > open.losses_before;
  if (const auto device = device_of_queue_.find(open.queue); device != device_of_queue_.end()) leak.device = device->second;
  leak.reset_seen = resets_of(open.queue) > open.resets_before;
  leaks_.push_back(leak);
}

void LeakFinder::end(const ReadReport&) {
  std::vector<std::pair<uint64_t, Open>> left(open_.begin(), open_.end());
  open_.clear();
  std::sort(left.begin(), left.end(), [](const auto& a, const auto& b) {
    return std::tie(a.second.popped_ns, a.first) < std::tie(b.second.popped_ns, b.first);
  });
  for (const auto& [element, open] : left) report_leak(element, open, last_ns_, false);
  std::sort(leaks_.begin(), leaks_.end(), [](const Leak& a, const Leak& b) {
    return a.popped_ns != b.popped_ns ? a.popped_ns < b.popped_ns : a.element < b.element;
  });
}

}  // namespace qperf::qemutrace
