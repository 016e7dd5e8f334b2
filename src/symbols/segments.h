#pragma once

#include <optional>
#include <string>

#include "base/types.h"

namespace qperf::symbols {

/// From the first to the last address of an ELF file's loaded segments: code, data and bss. nullopt: it loads none.
[[nodiscard]] std::optional<GuestRange> segments_hull(const std::string& path);

}  // namespace qperf::symbols
