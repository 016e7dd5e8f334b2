#pragma once

#include <cstdint>

namespace qperf::tools {

/// Whether a text has escape codes for colours in it.
enum class Colours : uint8_t { kNone, kAnsi };

/// What standard output gets: colours on a terminal only, and not where NO_COLOR or TERM=dumb says otherwise.
[[nodiscard]] Colours stdout_colours();

}  // namespace qperf::tools
