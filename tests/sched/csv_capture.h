#pragma once

#include <string>

#include "base/result.h"
#include "capture/writer.h"

namespace qperf::sched {

/// Writes a recorded event list (`ns,vcpu,kind,arg0..arg4,stack`, or `ns,vcpu,idle|resume`) as a capture of the present format,
/// in flushes of some hundred events as a recorder makes them. Of markers only blocks and wakes keep their stack.
Result<void> csv_to_capture(const std::string& csv_path, capture::ByteSink& sink);

}  // namespace qperf::sched
