#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "profile/frame_table.h"
#include "report/call_tree.h"
#include "report/row.h"

namespace qperf::report {

enum class Side : uint8_t { kCallers, kCallees };

/// The function's stacks seen from it: a tree whose first nodes are the function, its total weight once for each stack, below it
/// who called it, callers of callers further down; or what it called. Where it is in a stack more than once (recursion) the outermost
/// one counts, so that a total is never doubled.
[[nodiscard]] CallTree neighbours(std::span<const profile::FrameId> functions, Side side, std::span<const Row> rows,
                                  const profile::NamedStacks& names);

/// Frames of that name. Error: there is none; the message lists some that contain it.
[[nodiscard]] Result<std::vector<profile::FrameId>> frames_called(std::string_view name, const profile::FrameTable& frames);

}  // namespace qperf::report
