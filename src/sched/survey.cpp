#include "sched/survey.h"

#include <algorithm>

#include "capture/records.h"
#include "guest/trace_events.h"

namespace qperf::sched {

void NameHistory::add(TaskId task, WallNs at_ns, const TaskMetadata& metadata) {
  if (changes_.size() >= most_tasks_ && !changes_.contains(task.raw)) {
    ++left_out_;
    return;
  }
  auto& changes = changes_[task.raw];
  const std::string text = task_label(task, metadata);
  const auto known = labels_.find(text);
  if (known && !changes.empty() && changes.back().label == *known && changes.back().at_ns <= at_ns) return;
  if (changes.size() == kMaxNamesPerTask || changes_kept_ == most_names_ || (!known && labels_.full())) {
    ++left_out_;
    return;
  }
  const LabelId label = labels_.intern(text);
  if (tids_.size() <= label.raw) tids_.resize(label.raw + size_t{1});
  tids_[label.raw] = metadata.tid;
  changes.push_back({at_ns, label});
  ++changes_kept_;
}

void NameHistory::seal() {
  for (auto it = changes_.begin(); it != changes_.end(); ++it) std::ranges::stable_sort(it.value(), {}, &Change::at_ns);
}

LabelId NameHistory::label(TaskId task, WallNs at_ns) {
  if (task == capture::kUnknownTask) return labels_.intern("[unknown task]");
  if (const auto found = changes_.find(task.raw); found != changes_.end()) {
    const auto behind = std::ranges::upper_bound(found->second, at_ns, {}, &Change::at_ns);
    if (behind != found->second.begin()) return std::prev(behind)->label;
  }
  return labels_.intern(task_label(task, std::nullopt));
}

std::optional<uint64_t> NameHistory::tid(LabelId label) const noexcept {
  if (label.raw >= tids_.size() || tids_[label.raw] == 0) return std::nullopt;
  return tids_[label.raw];
}

Survey::Vcpu& Survey::state(VcpuIndex vcpu) {
  if (vcpus_.size() <= vcpu.raw) vcpus_.resize(vcpu.raw + size_t{1});
  return vcpus_[vcpu.raw];
}

/// Metadata and phases change names and windows, never a task's state.
bool Survey::spoils(const capture::EventCounts& counts) noexcept {
  constexpr std::array kStateChanging = {capture::EventClass::kSwitch, capture::EventClass::kBlock, capture::EventClass::kWake,
                                         capture::EventClass::kExit, capture::EventClass::kEnqueue};
  return std::ranges::any_of(kStateChanging, [&](auto which) { return counts[static_cast<size_t>(which)] != 0; });
}

void Survey::position(Vcpu& cpu, WallNs wall_ns, Insns insns) {
  end_ns_ = std::max(end_ns_, wall_ns);
  if (!insns_window_) return;
  // Samples and events come in chunks of their own, so the earliest of either counts.
  if (insns >= insns_window_->from) cpu.enters_ns = std::min(cpu.enters_ns.value_or(UINT64_MAX), wall_ns);
  if (insns >= insns_window_->until) cpu.leaves_ns = std::min(cpu.leaves_ns.value_or(UINT64_MAX), wall_ns);
}

void Survey::sample(VcpuIndex vcpu, WallNs wall_ns, Insns insns) { position(state(vcpu), wall_ns, insns); }

void Survey::event(VcpuIndex vcpu, Vcpu& cpu, const capture::Event& event) {
  cpu.last_wall_ns = std::max(cpu.last_wall_ns, event.wall_ns);
  position(cpu, cpu.last_wall_ns, event.insns);
  if (cpu.loss_open) {
    losses_.add(vcpu, cpu.loss_from_ns, cpu.last_wall_ns);
    cpu.loss_open = false;
  }
  ++counts_[static_cast<size_t>(capture::event_class(event.type, event.kind))];
  if (event.type != capture::EventType::kMarker) return;
  ++marker_events_;
  if (event.kind == guest::trace_kind::kMetadata) {
    names_.add(TaskId{event.args[0]}, cpu.last_wall_ns, {event.args[1], event.args[2], event.args[3], event.args[4]});
  } else if (event.kind == guest::trace_kind::kPhase) {
    if (marks_.size() == kMaxPhaseMarks) {
      ++phase_marks_left_out_;
      return;
    }
    marks_.push_back({cpu.last_wall_ns, vcpu, event.sequence, event.args[0], event.args[2], event.args[3]});
  }
}

void Survey::chunk(const capture::EventChunk& chunk) {
  Vcpu& cpu = state(chunk.vcpu);
  const auto open_loss = [&] {
    if (!cpu.loss_open) cpu.loss_from_ns = cpu.last_wall_ns;
    cpu.loss_open = true;
  };
  if (chunk.stored_before > cpu.stored) {
    missing_events_ += chunk.stored_before - cpu.stored;
    open_loss();
  }
  cpu.stored = chunk.stored_before + chunk.events.size();
  auto loss = chunk.losses.begin();
  const auto take_losses_before = [&](uint64_t sequence) {
    for (; loss != chunk.losses.end() && loss->first_sequence < sequence; ++loss) {
      auto& of_vcpu = drops_by_vcpu_[chunk.vcpu];
      for (size_t i = 0; i < capture::kEventClassCount; ++i) {
        drops_[i] += loss->counts[i];
        of_vcpu[i] += loss->counts[i];
      }
      if (spoils(loss->counts)) open_loss();
    }
  };
  if (!chunk.events.empty()) cpu.chunk_begins.push_back(std::max(cpu.last_wall_ns, chunk.events.front().wall_ns));
  for (const capture::Event& one : chunk.events) {
    take_losses_before(one.sequence);
    event(chunk.vcpu, cpu, one);
  }
  take_losses_before(UINT64_MAX);
}

void Survey::finish(uint32_t vcpus) {
  if (vcpus > 0) state(VcpuIndex{vcpus - 1});
  for (size_t i = 0; i < vcpus_.size(); ++i) {
    if (vcpus_[i].loss_open) losses_.add(VcpuIndex{static_cast<uint32_t>(i)}, vcpus_[i].loss_from_ns, UINT64_MAX);
  }
  losses_.seal();
  names_.seal();
  phases_ = PhaseList(std::move(marks_), end_ns_);
}

std::span<const WallNs> Survey::chunk_begins(VcpuIndex vcpu) const noexcept {
  if (vcpu.raw >= vcpus_.size()) return {};
  return vcpus_[vcpu.raw].chunk_begins;
}

Window Survey::window(const SpanSet& everywhere) const {
  if (!insns_window_) return Window(everywhere);
  std::vector<SpanSet> of_vcpu;
  for (const Vcpu& cpu : vcpus_) {
    of_vcpu.push_back(everywhere.intersect({cpu.enters_ns.value_or(UINT64_MAX), cpu.leaves_ns.value_or(UINT64_MAX)}));
  }
  return Window(everywhere, std::move(of_vcpu));
}

}  // namespace qperf::sched
