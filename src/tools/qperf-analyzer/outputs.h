#pragma once

#include <string>

#include "analysis/sched_view.h"
#include "base/result.h"
#include "options.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

/// Refuses an OUTPUT that is one of the inputs.
[[nodiscard]] Result<void> check_output_is_no_input(const Options& options);

/// Writes OUTPUT and, if asked for, a file for each vCPU and those of the scheduler's events (`sched`, else nullptr). All are put in place at the end: an error before leaves none.
[[nodiscard]] Result<void> write_outputs(const Options& options, const Profiles& profiles, const analysis::SchedView* sched);

/// `out.folded` and 3: `out.cpu3.folded`.
[[nodiscard]] std::string split_path(const std::string& output, VcpuIndex vcpu);

}  // namespace qperf::tools
