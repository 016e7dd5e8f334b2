#pragma once

#include <string>
#include <vector>

#include "analysis/capture_input.h"
#include "base/result.h"

namespace qperf::tools {

/// Refuses an output that is the ELF which the capture names, there or beside the capture.
[[nodiscard]] Result<void> check_recorded_elf_is_kept(const analysis::CaptureInput& capture, const std::vector<std::string>& outputs);

}  // namespace qperf::tools
