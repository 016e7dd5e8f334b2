#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

/// What the scheduler analysis hands to its consumers.
namespace qperf::sched {

/// A task as the analysis numbers it, in order of first mention.
struct TaskIndex {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(TaskIndex, TaskIndex) = default;
};

/// A task's printable label, interned in TaskTable.
struct LabelId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(LabelId, LabelId) = default;
};

/// A stack, interned in StackTable.
struct StackId {
  uint32_t raw = 0xffffffff;
  friend constexpr auto operator<=>(StackId, StackId) = default;
};
inline constexpr StackId kNoStack{};

enum class TaskState : uint8_t { kUnknown, kRunning, kBlocked, kRunnable, kExited };
inline constexpr size_t kTaskStateCount = 5;

/// What ended an interval.
enum class EndedBy : uint8_t {
  kOther,       // an odd transition, a state that the guest's own values name, or a task that has moved itself to another CPU
  kPreempted,   // running: left ready
  kYielded,     // running: left ready after an enqueue with reason yield
  kBlocked,     // running: left blocked
  kExit,        // any: the task ended
  kWake,        // blocked: the wake of this very block
  kRun,         // runnable: the task was switched in
  kRequeue,     // runnable: another enqueue; the task goes on waiting under its label
  kUnfinished,  // the capture ended first
};

/// Why a task waits for a CPU, as the guest said when it put the task on a run queue. Untrusted numbers.
struct Enqueue {
  uint64_t from_cpu = 0;
  uint64_t to_cpu = 0;
  uint64_t depth = 0;
  uint64_t reason = 0;
  friend bool operator==(const Enqueue&, const Enqueue&) = default;
};

/// Who ended a block.
struct Waker {
  uint64_t source = 0;
  LabelId label;  // of the waking task at that time
  bool has_task = false;
  StackId stack;  // with trace_stacks=all only
};

/// A span of time [from_ns, to_ns) in which one task was in one state. Intervals of a task never overlap and leave no gap
/// between its first mention and its exit.
struct Interval {
  TaskIndex task;
  LabelId label;  // in force at from_ns
  TaskState state = TaskState::kUnknown;
  EndedBy ended_by = EndedBy::kOther;
  bool certain = true;  // false: an event that is missing could have cut or ended it
  WallNs from_ns = 0;
  WallNs to_ns = 0;
  VcpuIndex vcpu;  // running: where; else the vCPU whose event began it
  StackId stack;   // blocked: the block site; runnable: the one of the block that the wake ended, or of the enqueue or switch

  // Blocked.
  bool has_block = false;  // false: the task left blocked without a block event
  uint64_t reason = 0;
  uint64_t resource = 0;
  bool has_waker = false;  // blocked ended by a wake; runnable that a wake began
  Waker waker;

  // Runnable.
  bool has_enqueue = false;
  Enqueue enqueue;
  bool from_wake = false;
  WallNs runnable_since_ns = 0;  // where the wait for a CPU began, over all its re-enqueues
  bool latency_certain = false;  // and whether all of it is certain
};

/// Receives what the state machine finds, in order of the intervals' ends.
class IntervalSink {
 public:
  virtual ~IntervalSink() = default;
  virtual void interval(const Interval& interval) = 0;
  /// The vCPU halted.
  virtual void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) = 0;
  /// It is not known which task ran on the vCPU: before its first switch, or after a contradiction.
  virtual void unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) = 0;
  virtual void enqueued(VcpuIndex vcpu, WallNs at_ns, const Enqueue& enqueue) = 0;
};

}  // namespace qperf::sched
