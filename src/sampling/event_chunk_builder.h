#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "capture/events.h"
#include "sampling/event_queue.h"

namespace qperf::sampling {

/// Collects one vCPU's queued events into a chunk in which equal stacks are stored once. Writer thread.
class EventChunkBuilder {
 public:
  explicit EventChunkBuilder(VcpuIndex vcpu) { chunk_.vcpu = vcpu; }

  void add(const EventSlot& slot);
  /// What was lost behind the last event of all.
  void add_trailing(const PendingLoss& loss);

  [[nodiscard]] const capture::EventChunk& chunk() const noexcept { return chunk_; }
  [[nodiscard]] bool empty() const noexcept { return chunk_.events.empty() && chunk_.losses.empty(); }
  [[nodiscard]] bool is_large() const noexcept { return chunk_.events.size() >= kLargeEvents; }
  /// The chunk was written.
  void clear();

 private:
  static constexpr size_t kLargeEvents = size_t{1} << 14;

  uint32_t intern(const EventSlot& slot);
  void add_loss(const PendingLoss& loss);

  capture::EventChunk chunk_;
  std::unordered_multimap<uint64_t, uint32_t> stacks_by_hash_;
};

}  // namespace qperf::sampling
