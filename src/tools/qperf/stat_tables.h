#pragma once

#include "analysis/sched_view.h"
#include "tools/qperf/table.h"

namespace qperf::tools {

/// How long tasks ran, and how long they waited from wake to run: the layout of perf sched latency. Those that ran most first.
[[nodiscard]] Table latency_table(const analysis::SchedView& sched);
/// What each vCPU did.
[[nodiscard]] Table vcpu_table(const analysis::SchedView& sched);
/// Run queues, as the guest told their length at each enqueue.
[[nodiscard]] Table queue_table(const analysis::SchedView& sched);
/// Blocked time by reason.
[[nodiscard]] Table reason_table(const analysis::SchedView& sched);
/// Blocked time by what was waited for, and where most of it began; at most `rows`, the longest first.
[[nodiscard]] Table resource_table(const analysis::SchedView& sched, size_t rows);

}  // namespace qperf::tools
