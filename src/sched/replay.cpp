#include "sched/replay.h"

namespace qperf::sched {

void IdleTasks::interval(const Interval& interval) {
  if (facts_.size() <= interval.task.raw) facts_.resize(interval.task.raw + size_t{1});
  Facts& facts = facts_[interval.task.raw];
  facts.ran |= interval.state == TaskState::kRunning;
  facts.queued_or_blocked |= interval.state == TaskState::kBlocked || interval.has_enqueue || interval.has_block;
}

bool IdleTasks::is_idle(const TaskTable& tasks, TaskIndex task) const noexcept {
  if (task.raw >= facts_.size() || tasks[task].ever_user) return false;
  return facts_[task.raw].ran && !facts_[task.raw].queued_or_blocked;
}

Replay::Replay(const Survey& survey, const Window& window, WakerSide wakers)
    : survey_(survey),
      statistics_(window),
      off_cpu_(window, wakers),
      machine_(tasks_, survey.losses(), *this),
      order_(survey, stacks_,
             [this](VcpuIndex vcpu, const OrderedEvent& event) { machine_.event(vcpu, event); }) {
  for (uint32_t vcpu = 0; vcpu < survey.vcpus(); ++vcpu) {
    machine_.add_vcpu(VcpuIndex{vcpu});
    statistics_.add_vcpu(VcpuIndex{vcpu});
  }
}

void Replay::finish() {
  order_.finish();
  machine_.finish(survey_.end_ns());
  statistics_.finish(survey_.end_ns());
}

void Replay::interval(const Interval& interval) {
  statistics_.interval(interval);
  const auto entry = off_cpu_.add(interval);
  if (log_ != nullptr) log_->add(interval, entry);
  idle_.interval(interval);
  if (listener_ != nullptr) listener_->interval(interval);
}

void Replay::halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  statistics_.halted(vcpu, from_ns, to_ns);
  if (log_ != nullptr) log_->halted(vcpu, from_ns, to_ns);
  if (listener_ != nullptr) listener_->halted(vcpu, from_ns, to_ns);
}

void Replay::unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  statistics_.unknown_task(vcpu, from_ns, to_ns);
  if (listener_ != nullptr) listener_->unknown_task(vcpu, from_ns, to_ns);
}

void Replay::enqueued(VcpuIndex vcpu, WallNs at_ns, const Enqueue& enqueue) {
  statistics_.enqueued(vcpu, at_ns, enqueue);
  if (listener_ != nullptr) listener_->enqueued(vcpu, at_ns, enqueue);
}

uint64_t Replay::busy_ns(VcpuIndex vcpu) const {
  uint64_t idle_ns = 0;
  const auto& tasks = statistics_.tasks();
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    if (!is_idle(TaskIndex{i})) continue;
    for (const auto& [where, ns] : tasks[i].running_by_vcpu) idle_ns += where == vcpu ? ns : 0;
  }
  if (vcpu.raw >= statistics_.vcpus().size()) return 0;
  return statistics_.vcpus()[vcpu.raw].running_ns - idle_ns;
}

std::vector<OffCpuLine> Replay::off_cpu_lines(const Pattern* task_filter, FrameNames& names) const {
  return off_cpu_.lines(tasks_, [this](TaskIndex task) { return is_idle(task); }, task_filter, stacks_, names);
}

}  // namespace qperf::sched
