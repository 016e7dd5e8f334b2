#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>

#include "base/result.h"
#include "capture/events.h"
#include "sampling/event_queue.h"
#include "sampling/guest_cpu.h"
#include "sampling/options.h"
#include "sampling/vcpu.h"
#include "unwind/frame_walk.h"

namespace qperf::sampling {

/// Decodes executions of the guest's trace marker into events: the vCPU threads' side. Nothing is trusted: a kind or a value
/// that nobody knows is queued as it came. An event costs at most 1 us without a stack (bench/).
/// All vCPU functions: noexcept, no allocation, lock or system call.
class Tracer {
 public:
  Tracer(const Options& options, guest::Target target, uint32_t max_vcpus, uint64_t start_ns);

  /// Allocates the queues if the options have a marker; before any vCPU runs.
  Result<void> allocate();

  /// The marker's address is set and events are kept.
  [[nodiscard]] bool active() const noexcept { return queues_ != nullptr; }

  /// vCPU thread, at the marker's first instruction. `insns`: this vCPU's kernel instructions before the block.
  void marker(VcpuIndex vcpu, Vcpu& state, Insns insns, GuestCpu& cpu) noexcept;
  /// vCPU thread: halted, or went on.
  void vcpu_event(VcpuIndex vcpu, Vcpu& state, Insns insns, capture::EventType type) noexcept;

  /// Writer thread.
  [[nodiscard]] EventQueue& queue(VcpuIndex vcpu) noexcept { return queues_[vcpu.raw]; }
  /// Whether any vCPU has executed the marker. Any thread.
  [[nodiscard]] bool ever_executed() const noexcept { return executed_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] bool wants_stack(uint64_t kind) const noexcept;
  void walk(EventSlot& slot, GuestCpu& cpu) noexcept;

  const Options& options_;
  const guest::Target target_;
  const guest::TargetInfo& target_info_;
  const uint32_t max_vcpus_;
  const uint64_t start_ns_;
  unwind::WalkLimits walk_limits_;
  std::unique_ptr<EventQueue[]> queues_;
  std::atomic<bool> executed_{false};
};

}  // namespace qperf::sampling
