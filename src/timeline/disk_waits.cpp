#include "timeline/disk_waits.h"

#include <algorithm>
#include <map>
#include <optional>

#include "base/printable.h"
#include "capture/reader.h"
#include "guest/trace_events.h"
#include "sched/replay.h"
#include "sched/survey.h"

namespace qperf::timeline {
namespace {

constexpr uint64_t kReadReason = 10;
constexpr uint64_t kWriteReason = 11;

bool is_disk(uint64_t reason) noexcept { return reason == kReadReason || reason == kWriteReason; }

/// What a block event says beyond the interval that it begins.
struct Announced {
  WallNs at_ns = 0;
  uint64_t sequence = 0;
  uint64_t detail = 0;
};
using AnnouncedByTask = std::map<uint64_t, std::vector<Announced>>;

/// Joins the blocked interval of a disk wait and the runnable ones behind it.
class Collector final : public sched::IntervalSink {
 public:
  Collector(const sched::Replay& replay, AnnouncedByTask announced) : replay_(replay), announced_(std::move(announced)) {
    for (auto& [task, blocks] : announced_) {
      announcements_ += blocks.size();
      std::sort(blocks.begin(), blocks.end(), [](const Announced& a, const Announced& b) { return a.at_ns < b.at_ns; });
    }
  }

  void interval(const sched::Interval& interval) override {
    if (interval.state == sched::TaskState::kBlocked && interval.has_block && is_disk(interval.reason)) {
      if (interval.ended_by == sched::EndedBy::kWake) {
        begin(interval);
      } else {
        ++found_.unfinished;
      }
      return;
    }
    const auto found = waiting_.find(interval.task.raw);
    if (found == waiting_.end()) return;
    if (interval.state == sched::TaskState::kRunnable) found->second.run_ns = interval.to_ns;
    if (interval.state == sched::TaskState::kRunnable && interval.ended_by == sched::EndedBy::kRequeue) return;
    finish(found);
  }
  void halted(VcpuIndex, WallNs, WallNs) override {}
  void unknown_task(VcpuIndex, WallNs, WallNs) override {}
  void enqueued(VcpuIndex, WallNs, const sched::Enqueue&) override {}

  DiskWaits take() {
    while (!waiting_.empty()) finish(waiting_.begin());
    const uint64_t seen = found_.waits.size() + found_.unfinished + found_.left_out;
    found_.never_blocked = announcements_ > seen ? announcements_ - seen : 0;
    std::stable_sort(found_.waits.begin(), found_.waits.end(),
                     [](const DiskWait& a, const DiskWait& b) { return a.woken_ns < b.woken_ns; });
    return std::move(found_);
  }

 private:
  void begin(const sched::Interval& interval) {
    DiskWait wait;
    wait.task = replay_.tasks()[interval.task].id;
    wait.task_label = replay_.tasks().labels().text(interval.label);
    wait.is_write = interval.reason == kWriteReason;
    wait.from_ns = wait.announced_ns = interval.from_ns;
    wait.woken_ns = wait.run_ns = interval.to_ns;
    wait.certain = interval.certain;
    const auto frames = replay_.stacks().frames(interval.stack);
    wait.site.assign(frames.begin(), frames.end());
    if (const auto found = announced_.find(wait.task.raw); found != announced_.end()) {
      // The last block event up to the switch-out.
      const auto after = std::upper_bound(found->second.begin(), found->second.end(), interval.from_ns,
                                          [](WallNs at_ns, const Announced& a) { return at_ns < a.at_ns; });
      if (after != found->second.begin()) {
        const Announced& block = *(after - 1);
        wait.announced_ns = block.at_ns;
        wait.sequence = block.sequence;
        wait.detail = block.detail;
      }
    }
    if (const auto old = waiting_.find(interval.task.raw); old != waiting_.end()) finish(old);
    waiting_.emplace(interval.task.raw, std::move(wait));
  }

  void finish(std::map<uint32_t, DiskWait>::iterator at) {
    if (found_.waits.size() < DiskWaits::kMaxWaits) {
      found_.waits.push_back(std::move(at->second));
    } else {
      ++found_.left_out;
    }
    waiting_.erase(at);
  }

  const sched::Replay& replay_;
  AnnouncedByTask announced_;
  uint64_t announcements_ = 0;
  std::map<uint32_t, DiskWait> waiting_;  // woken, not yet run, by TaskIndex
  DiskWaits found_;
};

}  // namespace

Result<DiskWaits> read_disk_waits(const std::string& capture_path,
                                  const std::function<void(uint64_t done, uint64_t whole)>& progress) {
  sched::Survey survey;
  AnnouncedByTask announced;
  size_t announcements = 0;
  capture::Handlers first;
  first.events = [&](const capture::EventChunk& chunk) -> Result<void> {
    survey.chunk(chunk);
    for (const capture::Event& event : chunk.events) {
      if (event.type != capture::EventType::kMarker || event.kind != guest::trace_kind::kBlock || !is_disk(event.args[2])) continue;
      if (announcements++ < DiskWaits::kMaxWaits)
        announced[event.args[0]].push_back({.at_ns = event.wall_ns, .sequence = event.args[1], .detail = event.args[4]});
    }
    return {};
  };
  first.last_samples = [&survey](const capture::PackedSamples& chunk) -> Result<void> {
    for (const capture::Sample& sample : chunk.samples) survey.sample(chunk.vcpu, sample.wall_ns, sample.insns);
    return {};
  };
  first.progress = progress;
  QPERF_ASSIGN_OR_RETURN(const capture::Summary summary, capture::read_capture(capture_path, first));
  survey.finish(summary.header.vcpus);
  if (!survey.has_events())
    return Error{ErrorCode::kUsage,
                 printable(capture_path) + ": has no scheduler events: record with trace=ADDRESS of the guest's trace marker"};
  const sched::Window window = survey.window(sched::SpanSet());
  sched::Replay replay(survey, window, sched::WakerSide::kLeaveOut);
  Collector collector(replay, std::move(announced));
  replay.set_listener(&collector);
  capture::Handlers second;
  second.events = [&replay](const capture::EventChunk& chunk) -> Result<void> {
    replay.chunk(chunk);
    return {};
  };
  second.progress = progress;
  QPERF_RETURN_IF_ERROR(capture::read_capture(capture_path, second));
  replay.finish();
  return collector.take();
}

}  // namespace qperf::timeline
