#include "sampling/event_queue.h"

namespace qperf::sampling {

EventSlot* EventQueue::reserve(uint64_t sequence, capture::EventClass which) noexcept {
  bump(taken_, 1);
  std::byte* const memory = slots_.reserve();
  if (memory == nullptr) {
    if (!pending_.any) pending_.first_sequence = sequence;
    pending_.any = true;
    pending_.last_sequence = sequence;
    uint32_t& count = pending_.counts[static_cast<size_t>(which)];
    if (count != UINT32_MAX) ++count;
    bump(dropped_[static_cast<size_t>(which)], 1);
    return nullptr;
  }
  auto* const slot = reinterpret_cast<EventSlot*>(memory);
  slot->sequence = sequence;
  slot->before = pending_;
  pending_ = {};
  return slot;
}

capture::EventCounts EventQueue::dropped() const noexcept {
  capture::EventCounts counts{};
  for (size_t i = 0; i < counts.size(); ++i) counts[i] = value(dropped_[i]);
  return counts;
}

}  // namespace qperf::sampling
