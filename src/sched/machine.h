#pragma once

#include <cstdint>
#include <vector>

#include "sched/interval.h"
#include "sched/loss_spans.h"
#include "sched/oddity.h"
#include "sched/ordered_event.h"
#include "sched/task_table.h"

namespace qperf::sched {

/// Turns the ordered events of all vCPUs into intervals of task states: the state machine of docs/off-cpu.md, one function
/// per event kind. Any events in any order give intervals that neither overlap nor run backwards.
/// Memory: one record per task and per vCPU.
class Machine {
 public:
  /// `losses` is sealed; all three outlive the machine.
  Machine(TaskTable& tasks, const LossSpans& losses, IntervalSink& sink);

  /// Events in ascending order of wall ns over all vCPUs.
  void event(VcpuIndex vcpu, const OrderedEvent& event);
  /// Makes the vCPU known even if it has no event, so that its time counts as unknown.
  void add_vcpu(VcpuIndex vcpu);
  /// Closes every interval at `end_ns`. No event may follow.
  void finish(WallNs end_ns);

  [[nodiscard]] const OddCounts& oddities() const noexcept { return odd_; }

 private:
  /// A block event, until the task runs again.
  struct Wait {
    bool announced = false;
    bool woken = false;  // a matching wake came before the switch-out
    uint64_t sequence = 0;
    uint64_t reason = 0;
    uint64_t resource = 0;
    StackId stack;
    bool has_waker = false;
    Waker waker;
  };
  struct Task {
    TaskState state = TaskState::kUnknown;
    bool doubtful = false;  // a contradiction has made the interval now open uncertain
    bool exiting = false;   // exit event seen, switch-out to come
    bool from_wake = false;
    bool awaits_late_wake = false;  // switched out ready although a block was announced and no wake seen
    bool has_enqueue = false;
    bool has_sequence = false;
    LabelId label;
    VcpuIndex vcpu;  // running: where; else the vCPU of the event that began the interval
    WallNs since_ns = 0;
    WallNs runnable_since_ns = 0;
    uint64_t last_sequence = 0;
    StackId stack;
    Wait wait;
    Enqueue enqueue;
  };
  struct Vcpu {
    bool seen = false;
    bool known = false;  // current is the task that runs here
    bool halted = false;
    TaskIndex current;
    WallNs unknown_since_ns = 0;
    WallNs halted_since_ns = 0;
  };
  struct Context {
    VcpuIndex vcpu;
    WallNs now_ns;
    StackId stack;
  };

  void marker(const Context& at, const OrderedEvent& event);
  void on_metadata(const Context& at, const OrderedEvent& event);
  void on_switch(const Context& at, const OrderedEvent& event);
  void on_block(const Context& at, const OrderedEvent& event);
  void on_wake(const Context& at, const OrderedEvent& event);
  void on_exit(const Context& at, const OrderedEvent& event);
  void on_enqueue(const Context& at, const OrderedEvent& event);
  void on_idle(const Context& at);
  void on_resume(const Context& at);

  void switch_out(const Context& at, TaskIndex task, uint64_t state);
  void switch_out_ready(const Context& at, TaskIndex task);
  void switch_in(const Context& at, TaskIndex task);
  void leave_unseen(const Context& at, TaskIndex task);
  void take_from_other_vcpu(const Context& at, TaskIndex task);
  void wake_running(const Context& at, TaskIndex task, uint64_t sequence, const Waker& waker);
  void wake_blocked(const Context& at, TaskIndex task, uint64_t sequence, const Waker& waker);
  void forget_current(VcpuIndex vcpu, WallNs now_ns);
  void end_halt(Vcpu& cpu, const Context& at);

  /// The record of a task, begun now if it is new; nullptr where too many are known.
  Task* record(const Context& at, TaskId id, TaskIndex& index);
  void revive(const Context& at, TaskIndex task);
  void enter(const Context& at, TaskIndex task, TaskState state, EndedBy ended_by);
  void emit(TaskIndex task, WallNs now_ns, EndedBy ended_by);
  [[nodiscard]] bool certain(const Task& task, WallNs now_ns, EndedBy ended_by) const noexcept;
  Vcpu& vcpu_state(VcpuIndex vcpu);
  void count(Oddity oddity) noexcept { ++odd_[static_cast<size_t>(oddity)]; }

  TaskTable& tasks_;
  const LossSpans& losses_;
  IntervalSink& sink_;
  std::vector<Task> records_;  // same index as tasks_
  std::vector<Vcpu> vcpus_;
  WallNs now_ns_ = 0;
  OddCounts odd_{};
};

}  // namespace qperf::sched
