#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/result.h"

namespace qperf::foreign {

/// Longer lines are given without their rest.
inline constexpr size_t kMaxLineBytes = size_t{1} << 20;

/// Hands each line of a text file ("-": standard input) to `on_line`, without its end; `cut`: its rest is missing.
[[nodiscard]] Result<void> read_lines(const std::string& path,
                                      const std::function<Result<void>(std::string_view line, bool cut)>& on_line);

/// The same on text in memory.
[[nodiscard]] Result<void> split_lines(std::string_view text,
                                       const std::function<Result<void>(std::string_view line, bool cut)>& on_line);

}  // namespace qperf::foreign
