#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/pattern.h"
#include "capture/events.h"
#include "sched/event_order.h"
#include "sched/interval_log.h"
#include "sched/machine.h"
#include "sched/off_cpu.h"
#include "sched/stack_table.h"
#include "sched/statistics.h"
#include "sched/survey.h"
#include "sched/task_table.h"
#include "sched/window.h"

namespace qperf::sched {

/// Idle tasks: without pid and tid in all their metadata, switched in at least once, never enqueued or blocked. They wait for
/// nothing: their time off the CPU is `parked`, not runnable.
class IdleTasks {
 public:
  void interval(const Interval& interval);
  [[nodiscard]] bool is_idle(const TaskTable& tasks, TaskIndex task) const noexcept;

 private:
  struct Facts {
    bool ran = false;
    bool queued_or_blocked = false;
  };
  std::vector<Facts> facts_;
};

/// The second reading of a capture: the events in one order, through the state machine, into statistics and the off-CPU profile.
class Replay final : public IntervalSink {
 public:
  /// `survey` is finished; both outlive the replay.
  Replay(const Survey& survey, const Window& window, WakerSide wakers);
  Replay(const Replay&) = delete;
  Replay& operator=(const Replay&) = delete;

  /// The same chunks in the same order as the survey had them.
  void chunk(const capture::EventChunk& chunk) { order_.chunk(chunk); }
  void finish();
  /// Also told of every interval; set it before the first chunk. For tests and tools.
  void set_listener(IntervalSink* listener) noexcept { listener_ = listener; }
  /// Keeps every interval and halt for views that draw them; as set_listener().
  void set_log(IntervalLog* log) noexcept { log_ = log; }

  [[nodiscard]] const TaskTable& tasks() const noexcept { return tasks_; }
  [[nodiscard]] const StackTable& stacks() const noexcept { return stacks_; }
  [[nodiscard]] const Statistics& statistics() const noexcept { return statistics_; }
  [[nodiscard]] const OffCpuProfile& off_cpu() const noexcept { return off_cpu_; }
  [[nodiscard]] const OddCounts& oddities() const noexcept { return machine_.oddities(); }
  [[nodiscard]] bool is_idle(TaskIndex task) const noexcept { return idle_.is_idle(tasks_, task); }
  /// Running time on the vCPU of tasks that are not idle.
  [[nodiscard]] uint64_t busy_ns(VcpuIndex vcpu) const;

  [[nodiscard]] std::vector<OffCpuLine> off_cpu_lines(const Pattern* task_filter, FrameNames& names) const;

  void interval(const Interval& interval) override;
  void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override;
  void unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override;
  void enqueued(VcpuIndex vcpu, WallNs at_ns, const Enqueue& enqueue) override;

 private:
  const Survey& survey_;
  TaskTable tasks_;
  StackTable stacks_;
  Statistics statistics_;
  OffCpuProfile off_cpu_;
  IdleTasks idle_;
  IntervalSink* listener_ = nullptr;
  IntervalLog* log_ = nullptr;
  Machine machine_;
  EventOrder order_;
};

}  // namespace qperf::sched
