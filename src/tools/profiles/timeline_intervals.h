#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string>
#include <vector>

#include "analysis/sched_view.h"
#include "base/keyed_hash.h"
#include "profile/filter.h"
#include "sched/interval.h"
#include "tools/profiles/device_timeline.h"
#include "tools/profiles/timeline_lanes.h"

namespace qperf::tools {

/// Draws the scheduler's intervals: a lane per vCPU and per task, wake-ups as flows from the vCPU that gave them to the wait
/// for a CPU that they began.
class TimelineIntervals final : public sched::IntervalSink {
 public:
  /// `sched` has been replayed; `devices` is nullptr without QEMU's trace; all outlive this.
  TimelineIntervals(const analysis::SchedView& sched, const profile::VcpuSet& vcpus, TimelineLanes& lanes, DeviceTimeline* devices)
      : sched_(sched), vcpus_(vcpus), lanes_(lanes), devices_(devices) {}

  exporter::LaneId vcpu_lane(VcpuIndex vcpu);
  exporter::LaneId task_lane(sched::TaskIndex task);

  void interval(const sched::Interval& interval) override;
  void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override;
  void unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override;
  void enqueued(VcpuIndex, WallNs, const sched::Enqueue&) override {}

 private:
  template <typename Draw>
  void for_each_part(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns, Draw&& draw) const;
  bool wanted(sched::LabelId label);
  bool draw_task(const sched::Interval& interval, exporter::TimelineSlice slice);
  void draw_wake(const sched::Interval& interval, exporter::FlowId flow);
  const std::string& place_of(sched::StackId stack);
  [[nodiscard]] const timeline::SplitWait* device_wait(const sched::Interval& interval, WallNs woken_ns) const;
  void describe(const sched::Interval& interval);
  void add_text(std::string_view key, std::string text);
  void add_number(std::string_view key, uint64_t number);
  [[nodiscard]] const std::string& label(sched::LabelId id) const;

  const analysis::SchedView& sched_;
  const profile::VcpuSet& vcpus_;
  TimelineLanes& lanes_;
  DeviceTimeline* devices_;
  uint64_t flows_ = 0;
  std::vector<WallNs> woken_at_;     // by task: where its last block ended by a wake; UINT64_MAX: its last interval was another
  std::vector<signed char> wanted_;  // by label: -1 not yet asked, 0, 1
  tsl::robin_map<uint32_t, std::string, KeyedHash> places_;  // by stack
  std::vector<exporter::TimelineDetail> details_;  // of the slice at hand
  std::vector<std::string> texts_;                 // of the details
};

}  // namespace qperf::tools
