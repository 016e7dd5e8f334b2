#pragma once

#include <cstdint>
#include <vector>

#include "export/timeline_writer.h"
#include "sched/interval.h"
#include "tools/profiles/device_lanes.h"
#include "tools/profiles/timeline_lanes.h"

namespace qperf::tools {

/// Draws device requests beside the scheduler's intervals: a slice per request with its stages inside, and an arrow from its end to
/// the task that it woke. Arrows are asked for first, while the tasks' lanes are drawn, and only those are begun.
class DeviceTimeline {
 public:
  /// `view` outlives the timeline.
  explicit DeviceTimeline(const DeviceView& view);

  /// The wait of a task that ended at `woken_ns`; nullptr: no request is known for it.
  [[nodiscard]] const timeline::SplitWait* wait(TaskId task, WallNs woken_ns) const { return ended_.find(task, woken_ns); }
  /// The arrow that ends where this wait did; raw 0: it would begin outside of the window, or behind its end.
  [[nodiscard]] exporter::FlowId arrow_to(const timeline::SplitWait& wait) const noexcept;
  /// Its end has been drawn.
  void arrow_drawn(const timeline::SplitWait& wait);

  /// Last: draws the lanes.
  void draw(TimelineLanes& lanes) const;

 private:
  void draw_request(const DeviceLanes::Slice& slice, exporter::LaneId lane, TimelineLanes& lanes) const;
  void draw_arrows(TimelineLanes& lanes) const;
  [[nodiscard]] exporter::LaneId lane(uint32_t number, TimelineLanes& lanes) const;

  const DeviceView& view_;
  DeviceLanes devices_;
  EndedWaits ended_;
  std::vector<const timeline::SplitWait*> drawn_;
};

}  // namespace qperf::tools
