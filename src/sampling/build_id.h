#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "base/result.h"

namespace qperf::sampling {

/// The GNU build-id of a 64-bit little-endian ELF file; empty if it has none. Reads at most some hundred KiB of the file and
/// needs no ELF library, so that the plugin links none. An Error if the file cannot be read or is no such ELF.
[[nodiscard]] Result<std::vector<std::byte>> read_build_id(const std::string& path);

}  // namespace qperf::sampling
