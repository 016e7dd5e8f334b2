#pragma once

#include "sched/window.h"
#include "tools/qperf/capture_options.h"

namespace qperf::tools {

/// The part of wall time that was selected: devices and the host belong to no vCPU, so it is what any vCPU has in its window. Ends
/// with the recording. The capture was loaded with LoadNeeds::replay_if_events or timeline_if_events.
[[nodiscard]] sched::SpanSet wall_window(const LoadedCapture& capture);

}  // namespace qperf::tools
