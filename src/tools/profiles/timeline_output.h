#pragma once

#include "analysis/profile_capture.h"
#include "analysis/sched_view.h"
#include "base/result.h"
#include "export/timeline_writer.h"
#include "profile/filter.h"
#include "tools/profiles/device_lanes.h"

namespace qperf::tools {

/// Plays a capture to a format that draws time: its samples and, where it has the scheduler's events, what each vCPU and task
/// did, who woke whom, phases and losses. The capture is read once more for either, so that memory does not grow with it.
/// `sched`: replayed with its capture; nullptr or without events: samples only. `vcpus`: whose lanes are drawn.
/// `devices`: QEMU's requests get lanes too; nullptr without.
/// Fails for captures whose samples have no clock (mode=exact, the older format).
[[nodiscard]] Result<void> write_timeline(const analysis::CaptureProfile& capture, const analysis::SchedView* sched,
                                          const profile::VcpuSet& vcpus, const DeviceView* devices, exporter::TimelineWriter& writer);

}  // namespace qperf::tools
