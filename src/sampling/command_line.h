#pragma once

#include <span>
#include <string>
#include <vector>

namespace qperf::sampling {

/// The arguments of this process, from /proc; empty if they cannot be read.
[[nodiscard]] std::vector<std::string> read_command_line();

/// One line for the capture, arguments with spaces quoted. Values that are secrets become `[redacted]`: `data=` of
/// `-object secret...` (an object given as JSON is replaced whole) and any key that ends in "password" or "passwd".
[[nodiscard]] std::string redacted_command_line(std::span<const std::string> arguments);

/// True if the arguments make all vCPUs share one thread: -icount, or -accel with thread=single.
[[nodiscard]] bool asks_for_one_thread(std::span<const std::string> arguments);

}  // namespace qperf::sampling
