#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace qperf::tools {

/// The file that a shell would run for `name`: itself if it has a '/', else the first executable of that name in PATH.
[[nodiscard]] Result<std::string> find_program(const std::string& name);

/// What a short-lived program printed, standard output and error in the order of their writes.
struct Captured {
  int status = 0;  // as waitpid() gives it
  std::string text;
  bool cut = false;  // more than kMaxCapturedBytes were printed
};

inline constexpr size_t kMaxCapturedBytes = size_t{4} << 20;

/// Runs `arguments` (the first one is the file) with `input` on its standard input, and waits for its end. It is killed after
/// `timeout_seconds`, which is an Error; so is a file that cannot be run.
[[nodiscard]] Result<Captured> run_captured(const std::vector<std::string>& arguments, std::string_view input,
                                            unsigned timeout_seconds);

}  // namespace qperf::tools
