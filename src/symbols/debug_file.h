#pragma once

#include <optional>
#include <string>
#include <vector>

#include "symbols/elf_file.h"

namespace qperf::symbols {

/// Looks for the separate debug file of a stripped ELF: its .gnu_debuglink beside it, in `.debug/` and under /usr/lib/debug
/// (accepted when the CRC fits), then `.build-id/xx/yyyy.debug` beside it and under /usr/lib/debug (accepted when the build-id
/// fits). Candidates that exist but do not fit are told in `warnings`.
[[nodiscard]] std::optional<ElfFile> find_debug_file(const ElfFile& image, std::vector<std::string>& warnings);

}  // namespace qperf::symbols
