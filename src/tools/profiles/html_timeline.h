#pragma once

#include <string>
#include <vector>

#include "analysis/sched_view.h"
#include "export/html_report.h"
#include "tools/profiles/html_frames.h"
#include "tools/profiles/html_output.h"
#include "tools/profiles/html_tasks.h"

namespace qperf::tools {

/// Lanes of vCPUs and tasks with their states, and the phases, from the scheduler's events. `vcpus`: how many get a lane.
void add_sched_lanes(const analysis::SchedView& sched, const HtmlTasks& tasks, uint32_t vcpus, const HtmlLimits& limits,
                     exporter::HtmlReport& report);

/// Lanes that show how much was sampled on each vCPU, for a capture without events.
void add_sample_lanes(const std::vector<VcpuIndex>& vcpus, exporter::HtmlReport& report);

/// The off-CPU tree with all its waits.
void add_off_cpu(const analysis::SchedView& sched, const HtmlTasks& tasks, const HtmlLimits& limits, HtmlFrames& frames,
                 exporter::HtmlReport& report);

}  // namespace qperf::tools
