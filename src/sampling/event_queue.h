#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/result.h"
#include "base/types.h"
#include "capture/events.h"
#include "ring/slot_ring.h"
#include "sampling/words.h"

namespace qperf::sampling {

/// Return addresses kept of an event's stack: a queue slot has room for so many.
inline constexpr size_t kMaxEventFrames = 64;

/// Events that found the queue full, since the last one that was stored.
struct PendingLoss {
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  std::array<uint32_t, capture::kEventClassCount> counts{};
  bool any = false;
};

/// One queued event. `before`: what was lost between the stored event before it and this one.
struct EventSlot {
  uint64_t sequence;
  WallNs wall_ns;
  Insns insns;
  uint64_t kind;
  std::array<uint64_t, guest::kTraceArguments> args;
  PendingLoss before;
  uint32_t frame_count;
  capture::EventType type;
  std::array<GuestVa, kMaxEventFrames> frames;  // the first frame_count are set
};

/// One vCPU's events on their way to the writer: a queue of its own, so that a flood of events costs no sample.
/// - The vCPU thread pushes, the writer thread pops; wait-free, nothing is allocated after allocate().
/// - A full queue loses the new event; how many of which class, and between which stored events, is kept.
/// - Every event that is offered counts as taken: taken = stored by the writer + dropped here + dropped by the writer.
class EventQueue {
 public:
  Result<void> allocate(size_t capacity) { return slots_.allocate(capacity, sizeof(EventSlot)); }

  /// vCPU thread: a slot to fill and commit(), or nullptr if the queue is full: the loss is noted.
  [[nodiscard]] EventSlot* reserve(uint64_t sequence, capture::EventClass which) noexcept;
  void commit() noexcept { slots_.commit(); }

  /// Writer thread.
  [[nodiscard]] const EventSlot* front() const noexcept { return reinterpret_cast<const EventSlot*>(slots_.front()); }
  void pop() noexcept { slots_.pop(); }
  [[nodiscard]] size_t capacity() const noexcept { return slots_.capacity(); }
  /// What was lost after the last stored event. Writer thread, once the vCPU pushes no more.
  [[nodiscard]] const PendingLoss& trailing_loss() const noexcept { return pending_; }
  /// Events offered so far. Any thread.
  [[nodiscard]] uint64_t taken() const noexcept { return value(taken_); }
  /// Those of them that found the queue full. Any thread.
  [[nodiscard]] capture::EventCounts dropped() const noexcept;

 private:
  ring::SlotRing slots_;
  // Written by the vCPU thread.
  PendingLoss pending_;
  std::atomic<uint64_t> taken_{0};
  std::array<std::atomic<uint64_t>, capture::kEventClassCount> dropped_{};
};

}  // namespace qperf::sampling
