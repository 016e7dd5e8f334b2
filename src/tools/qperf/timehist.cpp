#include "tools/qperf/timehist.h"

namespace qperf::tools {

void Timehist::interval(const sched::Interval& interval) {
  if (next_.size() <= interval.task.raw) next_.resize(interval.task.raw + size_t{1});
  TimehistRow& next = next_[interval.task.raw];
  const uint64_t ns = interval.to_ns - interval.from_ns;
  switch (interval.state) {
    case sched::TaskState::kBlocked:
      next.blocked_ns += ns;
      next.has_reason = interval.has_block;
      next.reason = interval.reason;
      next.certain = next.certain && interval.certain;
      return;
    case sched::TaskState::kRunnable:
      next.runnable_ns += ns;
      next.certain = next.certain && interval.certain;
      return;
    case sched::TaskState::kRunning: break;
    case sched::TaskState::kUnknown:
    case sched::TaskState::kExited: return;
  }
  next.from_ns = interval.from_ns;
  next.to_ns = interval.to_ns;
  next.vcpu = interval.vcpu;
  next.task = interval.task;
  next.label = interval.label;
  next.certain = next.certain && interval.certain;
  next.ended_by = interval.ended_by;
  if (rows_.size() < kMaxRows) rows_.push_back(next);
  else ++left_out_;
  next = {};
}

std::string_view departure_name(sched::EndedBy ended_by) noexcept {
  switch (ended_by) {
    case sched::EndedBy::kPreempted: return "preempted";
    case sched::EndedBy::kYielded: return "yielded";
    case sched::EndedBy::kBlocked: return "blocked";
    case sched::EndedBy::kExit: return "exited";
    case sched::EndedBy::kUnfinished: return "still running";
    case sched::EndedBy::kOther:
    case sched::EndedBy::kWake:
    case sched::EndedBy::kRun:
    case sched::EndedBy::kRequeue: return "other";
  }
  return "other";
}

}  // namespace qperf::tools
