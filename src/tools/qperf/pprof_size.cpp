#include "tools/qperf/pprof_size.h"

#include <fmt/core.h>

#include "tools/profiles/pprof_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {

void tell_pprof_size(uint64_t bytes) {
  if (bytes <= kPprofMeLimitBytes) return;
  report_warning(fmt::format("the file has {:.1f} MB; pprof.me takes 2 MB at most: a window (--from, --until, --phase) or one vCPU "
                             "(--cpu) makes it smaller, and `pprof -http` has no limit",
                             static_cast<double>(bytes) / 1e6));
}

}  // namespace qperf::tools
