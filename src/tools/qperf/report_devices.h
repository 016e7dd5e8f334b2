#pragma once

#include <string>

#include "tools/qperf/capture_options.h"
#include "tools/qperf/with_trace.h"

namespace qperf::tools {

/// The devices' part of a report: the requests that ended in the window, by queue and direction; how the clocks were mapped; and of
/// the selected tasks' waits that ended in the window, what the time went to.
[[nodiscard]] std::string devices_text(const WithTrace& trace, const LoadedCapture& capture);
/// The same as one JSON object.
[[nodiscard]] std::string devices_json(const WithTrace& trace, const LoadedCapture& capture);

}  // namespace qperf::tools
