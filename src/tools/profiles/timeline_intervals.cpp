#include "tools/profiles/timeline_intervals.h"

#include <fmt/core.h>

#include <algorithm>

#include "guest/trace_events.h"
#include "sched/off_cpu.h"
#include "sched/replay.h"

namespace qperf::tools {
namespace {

constexpr size_t kMostPlaceFrames = 16;
constexpr size_t kMostTexts = 8;  // details of one slice

std::string slice_name(const sched::Interval& interval) {
  switch (interval.state) {
    case sched::TaskState::kRunning: return "running";
    case sched::TaskState::kBlocked: return "blocked: " + guest::wait_reason_name(interval.reason);
    case sched::TaskState::kRunnable: return "runnable";
    case sched::TaskState::kUnknown:
    case sched::TaskState::kExited: break;
  }
  return "unknown";
}

}  // namespace

/// Calls draw(from, to) for each piece inside the window.
template <typename Draw>
void TimelineIntervals::for_each_part(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns, Draw&& draw) const {
  const auto spans = sched_.window().of(vcpu).spans();
  auto span = std::ranges::upper_bound(spans, from_ns, {}, &sched::TimeSpan::to_ns);
  for (; span != spans.end() && span->from_ns < to_ns; ++span) draw(std::max(from_ns, span->from_ns), std::min(to_ns, span->to_ns));
}

const std::string& TimelineIntervals::label(sched::LabelId id) const { return sched_.replayed().tasks().labels().text(id); }

exporter::LaneId TimelineIntervals::vcpu_lane(VcpuIndex vcpu) {
  return lanes_.lane(TimelineLanes::Kind::kVcpu, vcpu.raw, [&] { return fmt::format("cpu{}", vcpu.raw); });
}

exporter::LaneId TimelineIntervals::task_lane(sched::TaskIndex task) {
  return lanes_.lane(TimelineLanes::Kind::kTask, task.raw, [&] { return label(sched_.replayed().tasks()[task].label); });
}

bool TimelineIntervals::wanted(sched::LabelId id) {
  if (sched_.task_filter() == nullptr) return true;
  if (wanted_.size() <= id.raw) wanted_.resize(id.raw + size_t{1}, -1);
  signed char& answer = wanted_[id.raw];
  if (answer < 0) answer = sched_.task_filter()->found_in(label(id)) ? 1 : 0;
  return answer == 1;
}

void TimelineIntervals::add_text(std::string_view key, std::string text) {
  if (text.empty() || texts_.size() == kMostTexts) return;
  texts_.push_back(std::move(text));  // never moves the others: kMostTexts are reserved
  details_.push_back({.key = key, .text = texts_.back(), .number = 0});
}

void TimelineIntervals::add_number(std::string_view key, uint64_t number) { details_.push_back({.key = key, .text = {}, .number = number}); }

const std::string& TimelineIntervals::place_of(sched::StackId stack) {
  const auto [position, added] = places_.try_emplace(stack.raw);
  if (added) {
    std::string& text = position.value();
    const auto frames = sched_.frames_of(stack);
    for (size_t i = 0; i < frames.size() && i < kMostPlaceFrames; ++i) text += (i == 0 ? "" : " < ") + frames[i];
    if (frames.size() > kMostPlaceFrames) text += " < ...";
  }
  return position->second;
}

const timeline::SplitWait* TimelineIntervals::device_wait(const sched::Interval& interval, WallNs woken_ns) const {
  return devices_ == nullptr ? nullptr : devices_->wait(sched_.replayed().tasks()[interval.task].id, woken_ns);
}

void TimelineIntervals::describe(const sched::Interval& interval) {
  details_.clear();
  texts_.clear();
  texts_.reserve(kMostTexts);
  if (!interval.certain) add_number("uncertain", 1);
  switch (interval.state) {
    case sched::TaskState::kRunning: add_number("cpu", interval.vcpu.raw); break;
    case sched::TaskState::kBlocked:
      if (auto resource = sched::resource_name(interval.reason, interval.resource)) add_text("resource", *std::move(resource));
      add_text("at", place_of(interval.stack));
      if (interval.has_waker) {
        add_text("woken by", interval.waker.has_task ? label(interval.waker.label) : "[no task]");
        add_text("wake source", guest::wake_source_name(interval.waker.source));
      }
      if (const auto* wait = device_wait(interval, interval.to_ns)) {
        constexpr std::string_view kKeys[] = {"queueing ns", "QEMU ns", "host ns", "interrupt ns"};
        for (size_t i = 0; i < std::size(kKeys); ++i) add_number(kKeys[i], wait->parts_ns[i]);
      }
      break;
    case sched::TaskState::kRunnable:
      if (interval.has_enqueue) {
        add_text("enqueued", guest::enqueue_reason_name(interval.enqueue.reason));
        add_number("from cpu", interval.enqueue.from_cpu);
        add_number("to cpu", interval.enqueue.to_cpu);
        add_number("queue depth", interval.enqueue.depth);
      }
      add_text("at", place_of(interval.stack));
      break;
    case sched::TaskState::kUnknown:
    case sched::TaskState::kExited: break;
  }
}

/// The wake-up that began a wait for a CPU, at the vCPU whose event it was.
void TimelineIntervals::draw_wake(const sched::Interval& interval, exporter::FlowId flow) {
  const std::string name = "wake " + label(interval.label);
  std::vector<exporter::TimelineDetail> by;
  if (interval.has_waker && interval.waker.has_task) by.push_back({.key = "by", .text = label(interval.waker.label), .number = 0});
  lanes_.draw(exporter::TimelineInstant{
      .lane = vcpu_lane(interval.vcpu), .at_ns = interval.from_ns, .name = name, .details = by, .flow = flow});
}

bool TimelineIntervals::draw_task(const sched::Interval& interval, exporter::TimelineSlice slice) {
  if (!wanted(interval.label)) return false;
  const bool idle = sched_.replayed().is_idle(interval.task);
  if (idle && interval.state != sched::TaskState::kRunning) return false;  // idle tasks wait for nothing
  slice.lane = task_lane(interval.task);
  if (slice.flow.raw != 0 && lanes_.has_room(slice)) {
    // Readers drop an arrow whose end stands before its begin in the file, where both are of one time.
    ++flows_;
    draw_wake(interval, slice.flow);
  }
  return lanes_.draw(slice);
}

void TimelineIntervals::interval(const sched::Interval& interval) {
  if (woken_at_.size() <= interval.task.raw) woken_at_.resize(interval.task.raw + size_t{1}, UINT64_MAX);
  WallNs& woken_at = woken_at_[interval.task.raw];
  const bool begun_by_wake = interval.state == sched::TaskState::kRunnable && interval.from_wake && woken_at == interval.from_ns;
  woken_at = interval.state == sched::TaskState::kBlocked && interval.ended_by == sched::EndedBy::kWake ? interval.to_ns : UINT64_MAX;
  if (interval.state == sched::TaskState::kExited) return;

  const std::string name = slice_name(interval);
  describe(interval);
  for_each_part(interval.vcpu, interval.from_ns, interval.to_ns, [&](WallNs from_ns, WallNs to_ns) {
    exporter::TimelineSlice slice{.lane = {}, .from_ns = from_ns, .to_ns = to_ns, .name = name, .details = details_, .flow = {}};
    if (begun_by_wake && from_ns == interval.from_ns && vcpus_.contains(interval.vcpu)) slice.flow.raw = flows_ + 1;
    const auto* ended = begun_by_wake && from_ns == interval.from_ns ? device_wait(interval, interval.from_ns) : nullptr;
    if (ended != nullptr) slice.second_flow = devices_->arrow_to(*ended);
    if (draw_task(interval, slice) && slice.second_flow.raw != 0) devices_->arrow_drawn(*ended);
    slice.flow = {};
    slice.second_flow = {};
    if (interval.state != sched::TaskState::kRunning || !vcpus_.contains(interval.vcpu)) return;
    slice.lane = vcpu_lane(interval.vcpu);
    slice.name = label(interval.label);
    lanes_.draw(slice);
  });
}

void TimelineIntervals::unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  if (!vcpus_.contains(vcpu)) return;
  for_each_part(vcpu, from_ns, to_ns, [&](WallNs from, WallNs to) {
    lanes_.draw(exporter::TimelineSlice{.lane = vcpu_lane(vcpu), .from_ns = from, .to_ns = to, .name = "[unknown task]", .details = {}, .flow = {}});
  });
}

void TimelineIntervals::halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  if (!vcpus_.contains(vcpu)) return;
  const auto lane = lanes_.lane(TimelineLanes::Kind::kHalts, vcpu.raw, [&] { return fmt::format("cpu{} halted", vcpu.raw); });
  for_each_part(vcpu, from_ns, to_ns, [&](WallNs from, WallNs to) {
    lanes_.draw(exporter::TimelineSlice{.lane = lane, .from_ns = from, .to_ns = to, .name = "halted", .details = {}, .flow = {}});
  });
}

}  // namespace qperf::tools
