#include "qemutrace/leaks.h"

#include <algorithm>

namespace qperf::qemutrace {

LeakFinder::LeakFinder(uint64_t open_longer_ns) : open_longer_ns_(open_longer_ns) {
  on<uint64_t, uint64_t>("virtqueue_pop", {"vq", "elem"}, [this](const Event& event, uint64_t queue, uint64_t element) {
    ++pops_;
    last_ns_ = std::max(last_ns_, event.time_ns);
    addresses_.emplace(element, true);
    const auto device = device_of_queue_.find(queue);
    const uint64_t resets = device == device_of_queue_.end() ? 0 : resets_of_device_[device->second];
    const Open opened{.queue = queue, .popped_ns = event.time_ns, .losses_before = losses_, .resets_before = resets};
    if (const auto [at, fresh] = open_.try_emplace(element, opened); !fresh) {
      report_leak(element, at->second, event.time_ns, true);
      at->second = opened;
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
  on<uint64_t, uint64_t>("virtio_queue_notify", {"vdev", "vq"},
                         [this](const Event&, uint64_t device, uint64_t queue) { device_of_queue_[queue] = device; });
  on<uint64_t, uint64_t>("virtio_set_status", {"vdev", "val"}, [this](const Event&, uint64_t device, uint64_t status) {
    if (status == 0) ++resets_of_device_[device];  // writing 0 resets a virtio device
  });
}

void LeakFinder::lost(const Event&, uint64_t) { ++losses_; }

void LeakFinder::report_leak(uint64_t element, const Open& open, uint64_t until_ns, bool reused) {
  Leak leak{.element = element, .queue = open.queue, .popped_ns = open.popped_ns};
  leak.open_ns = until_ns - std::min(until_ns, open.popped_ns);
  leak.reused = reused;
  leak.open_longer = leak.open_ns > open_longer_ns_;
  leak.loss_in_span = losses_ > open.losses_before;
  if (const auto device = device_of_queue_.find(open.queue); device != device_of_queue_.end()) {
    leak.device = device->second;
    leak.reset_seen = resets_of_device_[device->second] > open.resets_before;
  }
  leaks_.push_back(leak);
}

void LeakFinder::end(const ReadReport&) {
  for (const auto& [element, open] : open_) report_leak(element, open, last_ns_, false);
  open_.clear();
  std::sort(leaks_.begin(), leaks_.end(), [](const Leak& a, const Leak& b) {
    return a.popped_ns != b.popped_ns ? a.popped_ns < b.popped_ns : a.element < b.element;
  });
}

}  // namespace qperf::qemutrace
