#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <new>

#include "base/result.h"
#include "ring/mapped_memory.h"

namespace qperf::ring {

/// Bounded queue of equal slots: one thread fills them in place, one other thread reads them in place.
/// - Both sides are wait-free and allocate nothing; no item is copied by the queue.
/// - Order is kept. A full queue refuses the new item and keeps the old ones: a burst loses its tail, never its start.
/// - What was committed is what front() shows: a slot is not reused before pop().
/// - The capacity is exact, not rounded.
/// Price: a slot is as large as the largest item; memory is touched slot by slot as the queue wraps.
class SlotRing {
 public:
  SlotRing() = default;
  SlotRing(const SlotRing&) = delete;
  SlotRing& operator=(const SlotRing&) = delete;

  /// Before any other call, once. `slot_bytes` is rounded up to a multiple of 8.
  Result<void> allocate(size_t capacity, size_t slot_bytes) {
    slot_bytes_ = (slot_bytes + 7) & ~size_t{7};
    capacity_ = capacity;
    QPERF_ASSIGN_OR_RETURN(memory_, MappedMemory::allocate(capacity_ * slot_bytes_, "sample queue"));
    return {};
  }

  /// Producer: the next slot to fill, or nullptr if the queue is full (not counted here: the caller knows what it loses).
  [[nodiscard]] std::byte* reserve() noexcept {
    const uint64_t tail = tail_.load(std::memory_order_relaxed);  // only the producer writes it
    // Pairs with the release in pop(): the slot we reuse has been read out.
    if (tail - head_.load(std::memory_order_acquire) >= capacity_) return nullptr;
    return slot(tail);
  }

  /// Producer: hands the reserved slot over.
  void commit() noexcept {
    // Pairs with the acquire in front(): the slot's bytes are visible before the index.
    tail_.store(tail_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  /// Consumer: the oldest slot, or nullptr if the queue is empty.
  [[nodiscard]] const std::byte* front() const noexcept {
    const uint64_t head = head_.load(std::memory_order_relaxed);  // only the consumer writes it
    // Pairs with the release in commit().
    if (head == tail_.load(std::memory_order_acquire)) return nullptr;
    return slot(head);
  }

  /// Consumer: gives the slot of front() back.
  void pop() noexcept {
    // Pairs with the acquire in reserve(): our reads of the slot come before its reuse.
    head_.store(head_.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }

  [[nodiscard]] size_t capacity() const noexcept { return capacity_; }

 private:
  [[nodiscard]] std::byte* slot(uint64_t index) const noexcept {
    return memory_.data() + (index % capacity_) * slot_bytes_;
  }

  MappedMemory memory_;
  size_t slot_bytes_ = 0;
  size_t capacity_ = 0;
  // On lines of their own, so that the two threads do not slow each other down.
  alignas(64) std::atomic<uint64_t> tail_{0};
  alignas(64) std::atomic<uint64_t> head_{0};
};

}  // namespace qperf::ring
