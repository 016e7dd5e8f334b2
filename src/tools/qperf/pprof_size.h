#pragma once

#include <cstdint>

namespace qperf::tools {

/// Warns of a pprof file that is too large for pprof.me.
void tell_pprof_size(uint64_t bytes);

}  // namespace qperf::tools
