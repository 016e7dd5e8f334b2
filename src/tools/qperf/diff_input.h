#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "profile/frame_table.h"
#include "report/comparison.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/diff_options.h"

namespace qperf::tools {

/// The recordings of both sides, in one table of names.
struct DiffInput {
  profile::NamedStacks names;
  std::vector<LoadedCapture> before_captures;
  std::vector<LoadedCapture> after_captures;
  std::vector<report::Run> before;
  std::vector<report::Run> after;
  std::string unit;  // of values: "%", "ms/s", ...

  /// All that weakens the recordings or comparing them.
  [[nodiscard]] analysis::Messages warnings() const;
  /// kIncomplete if part of any recording is missing.
  [[nodiscard]] ExitCode exit_code() const noexcept;
};

/// Nanoseconds of a tick, instructions of a period.
[[nodiscard]] double quantity_of_one(const analysis::CaptureInput& input) noexcept;

/// Error: a recording cannot be read, or the recordings cannot be compared that way.
[[nodiscard]] Result<DiffInput> load_diff(const DiffOptions& options);

}  // namespace qperf::tools
