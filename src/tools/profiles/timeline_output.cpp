#include "tools/profiles/timeline_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <vector>

#include "capture/reader.h"
#include "sched/replay.h"
#include "tools/profiles/free_lanes.h"
#include "tools/profiles/timeline_intervals.h"
#include "tools/profiles/timeline_lanes.h"

namespace qperf::tools {
namespace {

using Kind = TimelineLanes::Kind;

/// Phases nest and overlap: each goes into the first lane that is free.
void draw_phases(const sched::Survey& survey, TimelineLanes& lanes) {
  FreeLanes<WallNs> free;
  for (const sched::Phase& phase : survey.phases().all()) {
    if (phase.span.from_ns >= phase.span.to_ns) continue;
    const uint32_t number = free.take(phase.span.from_ns, phase.span.to_ns);
    const std::vector<exporter::TimelineDetail> details{{.key = "occurrence", .text = {}, .number = phase.occurrence},
                                                        {.key = "complete", .text = {}, .number = phase.complete ? 1U : 0U}};
    lanes.draw(exporter::TimelineSlice{.lane = lanes.lane(Kind::kPhase, number, [&] { return fmt::format("phases {}", number + 1); }),
                                       .from_ns = phase.span.from_ns,
                                       .to_ns = phase.span.to_ns,
                                       .name = phase.name,
                                       .details = details,
                                       .flow = {}});
  }
}

void draw_lost_events(const sched::Survey& survey, const profile::VcpuSet& vcpus, TimelineLanes& lanes) {
  for (const auto& [vcpu, spans] : survey.losses().by_vcpu()) {
    if (!vcpus.contains(vcpu)) continue;
    const auto lane = lanes.lane(Kind::kLostEvents, vcpu.raw, [number = vcpu.raw] { return fmt::format("cpu{} events lost", number); });
    for (const auto& span : spans) {
      const WallNs to_ns = std::min(span.to_ns, std::max(survey.end_ns(), span.from_ns + 1));
      lanes.draw(exporter::TimelineSlice{
          .lane = lane, .from_ns = span.from_ns, .to_ns = to_ns, .name = "events lost", .details = {}, .flow = {}});
    }
  }
}

/// Each ledger tells what was lost since the one before.
Result<void> draw_lost_samples(const std::string& path, const profile::VcpuSet& vcpus, TimelineLanes& lanes) {
  struct Before {
    uint64_t lost = 0;
    WallNs at_ns = 0;
  };
  std::map<VcpuIndex, Before> before;
  capture::Handlers handlers;
  handlers.ledger = [&](const capture::Ledger& ledger) -> Result<void> {
    for (const capture::VcpuLedger& of : ledger.vcpus) {
      const uint64_t lost = profile::saturating_add(of.dropped_queue_full, of.dropped_writer);
      Before& last = before[of.vcpu];
      if (lost > last.lost && vcpus.contains(of.vcpu)) {
        const std::vector<exporter::TimelineDetail> details{{.key = "count", .text = {}, .number = lost - last.lost}};
        const auto lane = lanes.lane(Kind::kLostSamples, of.vcpu.raw, [&] { return fmt::format("cpu{} samples lost", of.vcpu.raw); });
        lanes.draw(exporter::TimelineSlice{.lane = lane,
                                           .from_ns = last.at_ns,
                                           .to_ns = std::max(ledger.wall_ns, last.at_ns + 1),
                                           .name = "samples lost",
                                           .details = details,
                                           .flow = {}});
      }
      last = {.lost = std::max(lost, last.lost), .at_ns = std::max(ledger.wall_ns, last.at_ns)};
    }
    return {};
  };
  QPERF_RETURN_IF_ERROR(capture::read_capture(path, handlers));
  return {};
}

Result<void> draw_host(const HostView& host, TimelineLanes& lanes) {
  return host.for_each_sample([&](const HostSample& sample) {
    const auto lane = lanes.lane(Kind::kHost, sample.thread, [&] { return host.thread_name(sample.thread); });
    lanes.draw(exporter::TimelineSample{
        .lane = lane, .vcpu = sample.cpu, .at_ns = sample.at_ns, .weight = sample.weight, .stack = sample.stack});
  });
}

}  // namespace

Result<void> write_timeline(const TimelineInput& input, exporter::TimelineWriter& writer) {
  const auto& [capture, sched, vcpus, devices, host, progress] = input;
  if (capture.samples == nullptr)
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: its samples have no clock (mode=exact, or a capture of the older format), so there is no picture "
                             "of time: use a format of sums, such as folded or pprof",
                             capture.input.path)};
  TimelineLanes lanes(writer, progress);
  const sched::Replay* replay = sched != nullptr && sched->has_replay() ? &sched->replayed() : nullptr;
  std::optional<DeviceTimeline> requests;
  if (devices != nullptr) requests.emplace(*devices);
  std::optional<TimelineIntervals> intervals;
  if (replay != nullptr) {
    intervals.emplace(*sched, vcpus, lanes, requests ? &*requests : nullptr);
    draw_phases(sched->survey(), lanes);
    draw_lost_events(sched->survey(), vcpus, lanes);
  }
  QPERF_RETURN_IF_ERROR(draw_lost_samples(capture.input.path, vcpus, lanes));
  QPERF_RETURN_IF_ERROR(capture.samples->run([&](const analysis::TimedSample& sample) {
    const auto task = replay == nullptr ? std::nullopt : replay->tasks().find(sample.task);
    const auto lane = task ? intervals->task_lane(*task)
                           : lanes.lane(Kind::kVcpu, sample.vcpu.raw, [&] { return fmt::format("cpu{}", sample.vcpu.raw); });
    lanes.draw(exporter::TimelineSample{
        .lane = lane, .vcpu = sample.vcpu, .at_ns = sample.wall_ns, .weight = sample.weight, .stack = sample.stack});
  }));
  if (intervals) QPERF_RETURN_IF_ERROR(sched->replay_again(*intervals));
  if (requests) requests->draw(lanes);
  if (host != nullptr) QPERF_RETURN_IF_ERROR(draw_host(*host, lanes));
  writer.finish();
  return {};
}

}  // namespace qperf::tools
