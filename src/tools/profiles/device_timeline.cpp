#include "tools/profiles/device_timeline.h"

#include <algorithm>
#include <string>

#include "timeline/stage_spans.h"

namespace qperf::tools {
namespace {

using timeline::SplitWait;

constexpr uint64_t kFirstArrow = uint64_t{1} << 40;  // wake-ups are numbered from 1

std::vector<exporter::TimelineDetail> details_of(const qemutrace::Request& request) {
  std::vector<exporter::TimelineDetail> details;
  const auto add = [&details](std::string_view key, uint64_t number) { details.push_back({.key = key, .text = {}, .number = number}); };
  if (request.is_transfer) {
    add("sector", request.sector);
    add("sectors", request.sectors);
  }
  if (request.merged) add("merged", 1);
  if (request.loss_in_span) add("events lost meanwhile", 1);
  return details;
}

}  // namespace

DeviceTimeline::DeviceTimeline(const DeviceView& view) : view_(view), devices_(view), ended_(view.traced.split) {}

exporter::FlowId DeviceTimeline::arrow_to(const SplitWait& wait) const noexcept {
  const int64_t told_ns = wait.request->told_ns();
  const bool in_window = told_ns >= 0 && view_.window.contains(static_cast<WallNs>(told_ns));
  if (!in_window || static_cast<WallNs>(told_ns) > wait.wait->woken_ns || devices_.lane_of(*wait.request) == DeviceLanes::kNoLane) return {};
  return {.raw = kFirstArrow + static_cast<uint64_t>(&wait - view_.traced.split.waits.data())};
}

void DeviceTimeline::arrow_drawn(const SplitWait& wait) { drawn_.push_back(&wait); }

exporter::LaneId DeviceTimeline::lane(uint32_t number, TimelineLanes& lanes) const {
  return lanes.lane(TimelineLanes::Kind::kDevice, number, [&] { return devices_.names()[number]; });
}

void DeviceTimeline::draw_request(const DeviceLanes::Slice& slice, exporter::LaneId lane, TimelineLanes& lanes) const {
  std::vector<exporter::TimelinePart> parts;
  for (const timeline::StageSpan& stage : timeline::stage_spans(*slice.request)) {
    const auto from_ns = std::max(static_cast<WallNs>(std::max<int64_t>(stage.from_ns, 0)), slice.from_ns);
    const auto to_ns = std::min(static_cast<WallNs>(std::max<int64_t>(stage.to_ns, 0)), slice.to_ns);
    if (from_ns < to_ns) parts.push_back({.from_ns = from_ns, .to_ns = to_ns, .name = qemutrace::stage_span_name(stage.from)});
  }
  const auto details = details_of(slice.request->request);
  lanes.draw(exporter::TimelineSlice{.lane = lane,
                                     .from_ns = slice.from_ns,
                                     .to_ns = slice.to_ns,
                                     .name = request_kind(slice.request->request),
                                     .details = details,
                                     .flow = {},
                                     .second_flow = {},
                                     .parts = parts});
}

void DeviceTimeline::draw_arrows(TimelineLanes& lanes) const {
  for (const SplitWait* wait : drawn_) {
    const std::string name = "wake " + wait->wait->task_label;
    lanes.draw(exporter::TimelineInstant{.lane = lane(devices_.lane_of(*wait->request), lanes),
                                         .at_ns = static_cast<WallNs>(wait->request->told_ns()),
                                         .name = name,
                                         .details = {},
                                         .flow = arrow_to(*wait)});
  }
}

void DeviceTimeline::draw(TimelineLanes& lanes) const {
  for (const DeviceLanes::Slice& slice : devices_.slices()) draw_request(slice, lane(slice.lane, lanes), lanes);
  draw_arrows(lanes);
}

}  // namespace qperf::tools
