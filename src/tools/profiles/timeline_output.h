#pragma once

#include "analysis/profile_capture.h"
#include "analysis/progress.h"
#include "analysis/sched_view.h"
#include "base/result.h"
#include "export/timeline_writer.h"
#include "profile/filter.h"
#include "tools/profiles/device_lanes.h"
#include "tools/profiles/host_view.h"

namespace qperf::tools {

/// What a picture of time shows.
struct TimelineInput {
  const analysis::CaptureProfile& capture;
  const analysis::SchedView* sched = nullptr;  // replayed with its capture; nullptr or without events: samples only
  const profile::VcpuSet& vcpus;               // whose lanes are drawn
  const DeviceView* devices = nullptr;         // QEMU's requests get lanes too
  const HostView* host = nullptr;              // so do the host's threads
  analysis::Progress* progress = nullptr;      // told that it goes on
};

/// Plays a capture to a format that draws time: its samples and, where it has the scheduler's events, what each vCPU and task
/// did, who woke whom, phases and losses. The capture is read once more for either, so that memory does not grow with it.
/// Fails for captures whose samples have no clock (mode=exact, the older format).
[[nodiscard]] Result<void> write_timeline(const TimelineInput& input, exporter::TimelineWriter& writer);

}  // namespace qperf::tools
