#pragma once

#include <string>

#include "base/pattern.h"
#include "sched/off_cpu.h"
#include "sched/replay.h"
#include "sched/survey.h"

namespace qperf::sched {

/// Version of the document that docs/off-cpu.md describes; goes up when the meaning of a field changes.
inline constexpr int kReportVersion = 1;

/// The document of --sched-output: what the window holds of every task, vCPU and resource. Integers only, sorted, so that equal
/// captures give equal bytes. `task_filter`: nullptr, or only tasks whose last label it finds.
[[nodiscard]] std::string report_json(const Survey& survey, const Window& window, const Replay& replay,
                                      const Pattern* task_filter, FrameNames& names);

}  // namespace qperf::sched
