#include "sampling/event_queue.h"

namespace qperf::sampling {

EventSlot* EventQueue::reserve(uint64_t sequence, capture::EventClass which) noexcept {
  std::byte* const memory = slots_.reserve();
  if (memory == nullptr) {
    if (!pending_.any) pending_.first_sequence = sequence;
    pending_.any = true;
    pending_.last_sequence = sequence;
    uint32_t& count = pending_.counts[static_cast<size_t>(which)];
    if (count != UINT32_MAX) ++count;
    return nullptr;
  }
  auto* const slot = reinterpret_cast<EventSlot*>(memory);
  slot->sequence = sequence;
  slot->before = pending_;
  pending_ = {};
  return slot;
}

}  // namespace qperf::sampling
