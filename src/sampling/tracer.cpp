#include "sampling/tracer.h"

#include <algorithm>

#include "guest/trace_events.h"
#include "sampling/clock.h"

namespace qperf::sampling {

namespace kind = guest::trace_kind;

Tracer::Tracer(const Options& options, guest::Target target, uint32_t max_vcpus, uint64_t start_ns)
    : options_(options),
      target_(target),
      target_info_(guest::info(target)),
      max_vcpus_(max_vcpus),
      start_ns_(start_ns),
      walk_limits_{target, options.kernel_range, options.max_stack_bytes, nullptr} {}

Result<void> Tracer::allocate() {
  if (!options_.trace_address || options_.mode == guest::Mode::kExact) return {};
  auto queues = std::make_unique<EventQueue[]>(max_vcpus_);
  for (uint32_t i = 0; i < max_vcpus_; ++i) QPERF_RETURN_IF_ERROR(queues[i].allocate(options_.event_queue));
  queues_ = std::move(queues);
  return {};
}

bool Tracer::wants_stack(uint64_t event_kind) const noexcept {
  switch (options_.trace_stacks) {
    case TraceStacks::kNone: return false;
    case TraceStacks::kBlock: return event_kind == kind::kBlock;
    case TraceStacks::kAll:
      return event_kind == kind::kBlock || event_kind == kind::kWake || event_kind == kind::kSwitch ||
             event_kind == kind::kEnqueue;
  }
  return false;
}

void Tracer::marker(VcpuIndex vcpu, Vcpu& state, Insns insns, GuestCpu& cpu) noexcept {
  if (!active()) return;
  executed_.store(true, std::memory_order_relaxed);  // a statistic: orders nothing
  std::array<uint64_t, 1 + guest::kTraceArguments> values{};
  for (size_t i = 0; i < values.size(); ++i) values[i] = cpu.argument(i).value_or(0);
  // Before the queue is asked: samples name the task in force even while events are dropped.
  if (values[0] == kind::kSwitch) state.current_task = TaskId{values[2]};
  EventSlot* const slot =
      queues_[vcpu.raw].reserve(state.next_sequence++, capture::event_class(capture::EventType::kMarker, values[0]));
  if (slot == nullptr) return;
  slot->type = capture::EventType::kMarker;
  slot->wall_ns = clock_ns() - start_ns_;
  slot->insns = insns;
  slot->kind = values[0];
  std::copy(values.begin() + 1, values.end(), slot->args.begin());
  slot->frame_count = 0;
  if (wants_stack(values[0])) walk(*slot, cpu);
  queues_[vcpu.raw].commit();
}

void Tracer::vcpu_event(VcpuIndex vcpu, Vcpu& state, Insns insns, capture::EventType type) noexcept {
  if (!active()) return;
  EventSlot* const slot = queues_[vcpu.raw].reserve(state.next_sequence++, capture::event_class(type, 0));
  if (slot == nullptr) return;
  slot->type = type;
  slot->wall_ns = clock_ns() - start_ns_;
  slot->insns = insns;
  slot->kind = 0;
  slot->args = {};
  slot->frame_count = 0;
  queues_[vcpu.raw].commit();
}

/// The marker's caller is only in the link register (or on top of the stack): no prologue has run. The frame pointer is the
/// caller's, so the chain goes on behind it.
void Tracer::walk(EventSlot& slot, GuestCpu& cpu) noexcept {
  const auto sp = cpu.stack_pointer();
  const auto fp = cpu.frame_pointer();
  const auto caller = return_address(target_info_, options_.kernel_range, sp, cpu);
  if (!caller) return;
  slot.frames[slot.frame_count++] = guest::strip_authentication(target_, GuestVa{*caller});
  if (!sp || !fp) return;
  const size_t room = std::min<size_t>(slot.frames.size(), options_.max_frames) - slot.frame_count;
  const auto result = unwind::walk_frames(walk_limits_, GuestVa{*sp}, GuestVa{*fp}, cpu,
                                          std::span(slot.frames).subspan(slot.frame_count, room));
  slot.frame_count += static_cast<uint32_t>(result.frames);
}

}  // namespace qperf::sampling
