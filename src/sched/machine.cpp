#include "sched/machine.h"

#include <algorithm>

#include "guest/trace_events.h"

namespace qperf::sched {
namespace {

namespace kind = guest::trace_kind;
namespace reason = guest::enqueue_reason;

/// Reasons by which the scheduler puts back the task that runs now: it goes on running until the switch, if one comes.
bool requeues_current(uint64_t enqueue_reason) noexcept {
  return enqueue_reason == reason::kPreempt || enqueue_reason == reason::kYield;
}

/// Also that of a running task that moves itself to another CPU's queue.
bool is_of_running_task(uint64_t enqueue_reason) noexcept {
  return requeues_current(enqueue_reason) || enqueue_reason == reason::kAffinityMigration;
}

}  // namespace

Machine::Machine(TaskTable& tasks, const LossSpans& losses, IntervalSink& sink)
    : tasks_(tasks), losses_(losses), sink_(sink) {}

Machine::Vcpu& Machine::vcpu_state(VcpuIndex vcpu) {
  if (vcpus_.size() <= vcpu.raw) vcpus_.resize(vcpu.raw + size_t{1});
  Vcpu& cpu = vcpus_[vcpu.raw];
  cpu.seen = true;
  return cpu;
}

void Machine::add_vcpu(VcpuIndex vcpu) { vcpu_state(vcpu); }

void Machine::event(VcpuIndex vcpu, const OrderedEvent& event) {
  if (event.wall_ns < now_ns_) count(Oddity::kClockWentBack);
  now_ns_ = std::max(now_ns_, event.wall_ns);
  const Context at{vcpu, now_ns_, event.stack};
  switch (event.type) {
    case capture::EventType::kMarker: marker(at, event); break;
    case capture::EventType::kVcpuIdle: on_idle(at); break;
    case capture::EventType::kVcpuResume: on_resume(at); break;
  }
}

void Machine::marker(const Context& at, const OrderedEvent& event) {
  Vcpu& cpu = vcpu_state(at.vcpu);
  if (cpu.halted) {
    count(Oddity::kEventWhileHalted);
    end_halt(cpu, at);
  }
  switch (event.kind) {
    case kind::kMetadata: on_metadata(at, event); break;
    case kind::kSwitch: on_switch(at, event); break;
    case kind::kBlock: on_block(at, event); break;
    case kind::kWake: on_wake(at, event); break;
    case kind::kExit: on_exit(at, event); break;
    case kind::kEnqueue: on_enqueue(at, event); break;
    default: break;  // phases are not the machine's; kinds without a name say nothing about tasks
  }
}

void Machine::on_metadata(const Context& at, const OrderedEvent& event) {
  TaskIndex task;
  Task* record_of_task = record(at, TaskId{event.args[0]}, task);
  if (record_of_task == nullptr) return;
  tasks_.set_metadata(task, {event.args[1], event.args[2], event.args[3], event.args[4]});
  // The id is used again: a new life begins.
  if (record_of_task->state == TaskState::kExited) revive(at, task);
  // An interval that has lasted no time yet takes the new name: creation is first mention and metadata in one.
  if (record_of_task->since_ns == at.now_ns) record_of_task->label = tasks_[task].label;
}

void Machine::on_switch(const Context& at, const OrderedEvent& event) {
  if (event.args[0] == event.args[1]) {
    count(Oddity::kSwitchToItself);
    return;
  }
  TaskIndex prev;
  TaskIndex next;
  if (record(at, TaskId{event.args[0]}, prev) == nullptr || record(at, TaskId{event.args[1]}, next) == nullptr) {
    forget_current(at.vcpu, at.now_ns);
    return;
  }
  Vcpu& cpu = vcpus_[at.vcpu.raw];
  if (cpu.known && cpu.current == prev) {
    switch_out(at, prev, event.args[2]);
  } else {
    if (cpu.known) {
      count(Oddity::kSwitchFromOther);
      leave_unseen(at, cpu.current);
    }
    const TaskState before = records_[prev.raw].state;
    if (before == TaskState::kRunning) {
      take_from_other_vcpu(at, prev);
    } else if (before != TaskState::kUnknown && !(before == TaskState::kExited && event.args[2] == guest::task_state::kExited)) {
      count(Oddity::kSwitchFromNotRunning);
      records_[prev.raw].doubtful = true;
    }
    switch_out(at, prev, event.args[2]);
  }
  if (!cpu.known && cpu.unknown_since_ns < at.now_ns) sink_.unknown_task(at.vcpu, cpu.unknown_since_ns, at.now_ns);
  switch_in(at, next);
  cpu.known = true;
  cpu.current = next;
}

/// The vCPU has left `task` without a switch event of it.
void Machine::leave_unseen(const Context& at, TaskIndex task) {
  Task& record_of_task = records_[task.raw];
  if (record_of_task.exiting) {
    count(Oddity::kExitWithoutSwitch);
    enter(at, task, TaskState::kExited, EndedBy::kExit);
    return;
  }
  record_of_task.doubtful = true;
  enter(at, task, TaskState::kUnknown, EndedBy::kOther);
}

/// `task` runs on another vCPU by what was seen, and here by what the guest says now: what it says now counts.
void Machine::take_from_other_vcpu(const Context& at, TaskIndex task) {
  count(Oddity::kRunningTwice);
  records_[task.raw].doubtful = true;
  forget_current(records_[task.raw].vcpu, at.now_ns);
}

void Machine::forget_current(VcpuIndex vcpu, WallNs now_ns) {
  Vcpu& cpu = vcpus_[vcpu.raw];
  if (!cpu.known) return;
  cpu.known = false;
  cpu.unknown_since_ns = now_ns;
  const TaskIndex task = cpu.current;
  if (records_[task.raw].state == TaskState::kRunning) {
    records_[task.raw].doubtful = true;
    enter({vcpu, now_ns, kNoStack}, task, TaskState::kUnknown, EndedBy::kOther);
  }
}

void Machine::switch_out(const Context& at, TaskIndex task, uint64_t state) {
  Task& out = records_[task.raw];
  const bool left_exited = state == guest::task_state::kExited;
  if (out.state == TaskState::kExited) {
    if (left_exited) return;
    revive(at, task);
  }
  if (out.exiting || left_exited) {
    if (!out.exiting) count(Oddity::kExitedWithoutExit);
    if (!left_exited) count(Oddity::kExitStateMismatch);
    enter(at, task, TaskState::kExited, EndedBy::kExit);
    return;
  }
  switch (state) {
    case guest::task_state::kBlocked:
      if (out.wait.announced && out.wait.woken) {
        switch_out_ready(at, task);
        return;
      }
      if (!out.wait.announced) {
        count(Oddity::kBlockedWithoutBlock);
        out.wait = {};
      }
      enter(at, task, TaskState::kBlocked, EndedBy::kBlocked);
      out.stack = out.wait.announced ? out.wait.stack : at.stack;
      out.has_enqueue = false;
      return;
    case guest::task_state::kRunning: count(Oddity::kLeftRunning); [[fallthrough]];
    case guest::task_state::kReady: switch_out_ready(at, task); return;
    default:
      count(Oddity::kUnknownState);
      enter(at, task, TaskState::kUnknown, EndedBy::kOther);
      out.wait = {};
      out.has_enqueue = false;
      return;
  }
}

void Machine::switch_out_ready(const Context& at, TaskIndex task) {
  Task& out = records_[task.raw];
  EndedBy ended_by = out.wait.announced ? EndedBy::kBlocked : EndedBy::kPreempted;
  if (out.has_enqueue && out.enqueue.reason == reason::kYield) ended_by = EndedBy::kYielded;
  // It went by itself: nobody has preempted it.
  if (out.has_enqueue && out.enqueue.reason == reason::kAffinityMigration) ended_by = EndedBy::kOther;
  enter(at, task, TaskState::kRunnable, ended_by);
  out.stack = at.stack;
  if (!out.wait.announced) return;
  // Its block was ended, or is about to be, before it left the CPU: it waits for a CPU at the place where it blocked.
  if (!out.wait.woken) count(Oddity::kReadyAfterBlock);
  out.awaits_late_wake = !out.wait.woken;
  out.stack = out.wait.stack;
  out.from_wake = out.wait.woken;
}

void Machine::switch_in(const Context& at, TaskIndex task) {
  Task& in = records_[task.raw];
  EndedBy ended_by = EndedBy::kOther;
  switch (in.state) {
    case TaskState::kUnknown: break;
    case TaskState::kRunnable: ended_by = EndedBy::kRun; break;
    case TaskState::kRunning: take_from_other_vcpu(at, task); break;
    case TaskState::kBlocked:
      count(Oddity::kRunWithoutWake);
      in.doubtful = true;
      break;
    case TaskState::kExited:
      count(Oddity::kRunAfterExit);
      revive(at, task);
      break;
  }
  enter(at, task, TaskState::kRunning, ended_by);
  in.wait = {};
  in.has_enqueue = false;
}

void Machine::on_block(const Context& at, const OrderedEvent& event) {
  TaskIndex task;
  Task* blocker = record(at, TaskId{event.args[0]}, task);
  if (blocker == nullptr) return;
  switch (blocker->state) {
    case TaskState::kRunning:
    case TaskState::kUnknown:
      if (blocker->wait.announced && !blocker->wait.woken) count(Oddity::kBlockTwice);
      break;
    case TaskState::kBlocked:
    case TaskState::kRunnable:
      // Only a running task can say that it blocks: its switch-in was not seen.
      count(Oddity::kBlockWhileOffCpu);
      blocker->doubtful = true;
      enter(at, task, TaskState::kUnknown, EndedBy::kOther);
      break;
    case TaskState::kExited:
      count(Oddity::kEventAfterExit);
      revive(at, task);
      break;
  }
  if (blocker->has_sequence && event.args[1] != blocker->last_sequence + 1) count(Oddity::kBlockSequenceJump);
  blocker->has_sequence = true;
  blocker->last_sequence = event.args[1];
  blocker->wait = {};
  blocker->wait.announced = true;
  blocker->wait.sequence = event.args[1];
  blocker->wait.reason = event.args[2];
  blocker->wait.resource = event.args[3];
  blocker->wait.stack = at.stack;
  blocker->has_enqueue = false;
}

void Machine::on_wake(const Context& at, const OrderedEvent& event) {
  TaskIndex task;
  Task* woken = record(at, TaskId{event.args[0]}, task);
  if (woken == nullptr) return;
  Waker waker;
  waker.source = event.args[3];
  waker.has_task = event.args[2] != 0;
  if (waker.has_task) waker.label = tasks_.label_of(TaskId{event.args[2]});
  waker.stack = at.stack;
  switch (woken->state) {
    case TaskState::kRunning: wake_running(at, task, event.args[1], waker); return;
    case TaskState::kBlocked: wake_blocked(at, task, event.args[1], waker); return;
    case TaskState::kUnknown:
      if (woken->wait.announced) {
        wake_running(at, task, event.args[1], waker);
        return;
      }
      // It was blocked before the capture saw it.
      enter(at, task, TaskState::kRunnable, EndedBy::kWake);
      woken->from_wake = true;
      return;
    case TaskState::kRunnable:
      if (woken->awaits_late_wake && woken->wait.sequence == event.args[1]) {
        count(Oddity::kLateWake);
        woken->awaits_late_wake = false;
        woken->wait.has_waker = true;
        woken->wait.waker = waker;
        return;
      }
      count(Oddity::kWakeOfRunnable);
      return;
    case TaskState::kExited: count(Oddity::kWakeOfExited); return;
  }
}

/// A wake between block and switch-out, or one that ends nothing.
void Machine::wake_running(const Context& at, TaskIndex task, uint64_t sequence, const Waker& waker) {
  Task& woken = records_[task.raw];
  if (!woken.wait.announced || woken.wait.woken || woken.wait.sequence != sequence) {
    count(Oddity::kWakeOfRunning);
    return;
  }
  woken.wait.woken = true;
  woken.wait.has_waker = true;
  woken.wait.waker = waker;
  // An interrupt on the CPU that the task still occupies leaves it running.
  const bool interrupted = woken.state == TaskState::kRunning && woken.vcpu == at.vcpu;
  count(interrupted ? Oddity::kWakeOfCurrentTask : Oddity::kWakeBeforeSwitchOut);
}

void Machine::wake_blocked(const Context& at, TaskIndex task, uint64_t sequence, const Waker& waker) {
  Task& woken = records_[task.raw];
  if (woken.wait.announced && sequence < woken.wait.sequence) {
    count(Oddity::kStaleWake);
    return;
  }
  if (woken.wait.announced && sequence > woken.wait.sequence) {
    count(Oddity::kWakeOfLaterBlock);
    woken.doubtful = true;
  }
  woken.wait.has_waker = true;
  woken.wait.waker = waker;
  const StackId site = woken.stack;
  enter(at, task, TaskState::kRunnable, EndedBy::kWake);
  woken.stack = site;
  woken.from_wake = true;
}

void Machine::on_exit(const Context& at, const OrderedEvent& event) {
  TaskIndex task;
  Task* ending = record(at, TaskId{event.args[0]}, task);
  if (ending == nullptr) return;
  switch (ending->state) {
    case TaskState::kRunning:
    case TaskState::kUnknown:
      if (ending->exiting) count(Oddity::kExitTwice);
      ending->exiting = true;
      return;
    case TaskState::kBlocked:
    case TaskState::kRunnable:
      count(Oddity::kExitWhileOffCpu);
      enter(at, task, TaskState::kExited, EndedBy::kExit);
      return;
    case TaskState::kExited: count(Oddity::kExitTwice); return;
  }
}

void Machine::on_enqueue(const Context& at, const OrderedEvent& event) {
  TaskIndex task;
  Task* queued = record(at, TaskId{event.args[0]}, task);
  if (queued == nullptr) return;
  const Enqueue enqueue{event.args[1], event.args[2], event.args[3], event.args[4]};
  sink_.enqueued(at.vcpu, at.now_ns, enqueue);
  if (queued->state == TaskState::kExited) {
    count(Oddity::kEventAfterExit);
    if (enqueue.reason != reason::kSpawn) return;
    revive(at, task);
  }
  const bool was_off_cpu = queued->state == TaskState::kBlocked || queued->state == TaskState::kUnknown;
  switch (queued->state) {
    case TaskState::kRunning:
      if (!is_of_running_task(enqueue.reason)) count(Oddity::kEnqueueWhileRunning);
      break;
    case TaskState::kBlocked:
      count(Oddity::kEnqueueWithoutWake);
      queued->doubtful = true;
      // Put back by preemption or yield, it must have run: where and since when was not seen.
      enter(at, task, requeues_current(enqueue.reason) ? TaskState::kUnknown : TaskState::kRunnable, EndedBy::kOther);
      break;
    case TaskState::kUnknown:
      if (!requeues_current(enqueue.reason) && !queued->wait.announced) enter(at, task, TaskState::kRunnable, EndedBy::kOther);
      break;
    case TaskState::kRunnable:
      if (queued->has_enqueue && queued->enqueue != enqueue) {
        emit(task, at.now_ns, EndedBy::kRequeue);
        queued->since_ns = at.now_ns;
        queued->label = tasks_[task].label;
      }
      break;
    case TaskState::kExited: break;
  }
  if (queued->state == TaskState::kRunnable && was_off_cpu) queued->stack = at.stack;
  // The scheduler chose it again after its block was ended early: that wait is over and has lasted no time.
  if (queued->state == TaskState::kRunning && is_of_running_task(enqueue.reason)) queued->wait = {};
  queued->has_enqueue = true;
  queued->enqueue = enqueue;
}

void Machine::on_idle(const Context& at) {
  Vcpu& cpu = vcpu_state(at.vcpu);
  if (cpu.halted) {
    count(Oddity::kIdleTwice);
    return;
  }
  cpu.halted = true;
  cpu.halted_since_ns = at.now_ns;
}

void Machine::on_resume(const Context& at) {
  Vcpu& cpu = vcpu_state(at.vcpu);
  if (!cpu.halted) {
    count(Oddity::kResumeWithoutIdle);
    return;
  }
  end_halt(cpu, at);
}

void Machine::end_halt(Vcpu& cpu, const Context& at) {
  cpu.halted = false;
  if (cpu.halted_since_ns < at.now_ns) sink_.halted(at.vcpu, cpu.halted_since_ns, at.now_ns);
}

Machine::Task* Machine::record(const Context& at, TaskId id, TaskIndex& index) {
  const auto task = tasks_.find_or_add(id);
  if (!task) {
    count(Oddity::kTooManyTasks);
    return nullptr;
  }
  index = *task;
  while (records_.size() <= task->raw) {
    Task fresh;
    fresh.since_ns = at.now_ns;
    fresh.vcpu = at.vcpu;
    fresh.label = tasks_[TaskIndex{static_cast<uint32_t>(records_.size())}].label;
    records_.push_back(fresh);
  }
  return &records_[task->raw];
}

void Machine::revive(const Context& at, TaskIndex task) {
  Task fresh;
  fresh.since_ns = at.now_ns;
  fresh.vcpu = at.vcpu;
  fresh.label = tasks_[task].label;
  records_[task.raw] = fresh;
}

void Machine::enter(const Context& at, TaskIndex task, TaskState state, EndedBy ended_by) {
  emit(task, at.now_ns, ended_by);
  Task& record_of_task = records_[task.raw];
  record_of_task.state = state;
  record_of_task.since_ns = at.now_ns;
  record_of_task.runnable_since_ns = at.now_ns;
  record_of_task.vcpu = at.vcpu;
  record_of_task.label = tasks_[task].label;
  record_of_task.doubtful = false;
  record_of_task.from_wake = false;
  record_of_task.awaits_late_wake = false;
  record_of_task.stack = kNoStack;
}

bool Machine::certain(const Task& task, WallNs now_ns, EndedBy ended_by) const noexcept {
  if (task.doubtful) return false;
  if (task.state == TaskState::kBlocked && !task.wait.announced) return false;
  if (losses_.empty()) return true;
  if (task.state == TaskState::kRunning) return !losses_.touches(task.vcpu, task.since_ns, now_ns);
  // A block has one wake, and the two carry the same number: whatever was lost between them did not end the wait.
  if (task.state == TaskState::kBlocked && ended_by == EndedBy::kWake) return true;
  return !losses_.touches(task.since_ns, now_ns);
}

void Machine::emit(TaskIndex task, WallNs now_ns, EndedBy ended_by) {
  const Task& from = records_[task.raw];
  if (from.state == TaskState::kExited) return;
  if (from.state == TaskState::kUnknown && from.since_ns == now_ns) return;
  Interval out;
  out.task = task;
  out.label = from.label;
  out.state = from.state;
  out.ended_by = ended_by;
  out.certain = certain(from, now_ns, ended_by);
  out.from_ns = from.since_ns;
  out.to_ns = now_ns;
  out.vcpu = from.vcpu;
  out.stack = from.stack;
  if (from.state == TaskState::kBlocked || from.from_wake) {
    out.has_block = from.wait.announced;
    out.reason = from.wait.reason;
    out.resource = from.wait.resource;
    out.has_waker = from.wait.has_waker;
    out.waker = from.wait.waker;
  }
  if (from.state == TaskState::kRunnable) {
    out.has_enqueue = from.has_enqueue;
    out.enqueue = from.enqueue;
    out.from_wake = from.from_wake;
    out.runnable_since_ns = from.runnable_since_ns;
    out.latency_certain = out.certain && (losses_.empty() || !losses_.touches(from.runnable_since_ns, now_ns));
  }
  sink_.interval(out);
}

void Machine::finish(WallNs end_ns) {
  now_ns_ = std::max(now_ns_, end_ns);
  for (size_t i = 0; i < records_.size(); ++i) emit(TaskIndex{static_cast<uint32_t>(i)}, now_ns_, EndedBy::kUnfinished);
  for (size_t i = 0; i < vcpus_.size(); ++i) {
    Vcpu& cpu = vcpus_[i];
    const VcpuIndex vcpu{static_cast<uint32_t>(i)};
    if (cpu.seen && !cpu.known && cpu.unknown_since_ns < now_ns_) sink_.unknown_task(vcpu, cpu.unknown_since_ns, now_ns_);
    if (cpu.halted) end_halt(cpu, {vcpu, now_ns_, kNoStack});
  }
}

}  // namespace qperf::sched
