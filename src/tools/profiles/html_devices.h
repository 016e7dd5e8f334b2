#pragma once

#include "export/html_report.h"
#include "tools/profiles/device_lanes.h"
#include "tools/profiles/html_output.h"

namespace qperf::tools {

/// Lanes of the device requests' stages, under those of the vCPUs. Behind add_sched_lanes(), whose states it adds to.
void add_device_lanes(const DeviceView& view, const HtmlLimits& limits, exporter::HtmlReport& report);

/// How QEMU's trace came onto the page's clock, and what it lacks.
void add_device_words(const DeviceView& view, exporter::HtmlReport& report);

}  // namespace qperf::tools
