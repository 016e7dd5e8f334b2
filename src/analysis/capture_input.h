#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "capture/reader.h"
#include "capture/records.h"

namespace qperf::analysis {

/// What a capture says about itself before its samples are read.
struct CaptureInput {
  std::string path;
  /// A capture of the older Rust profiler: header and totals are empty, samples have no clock and no weight.
  bool legacy = false;
  capture::Summary summary;
  std::vector<capture::Fingerprint> fingerprints;  // by wall ns, at most kMaxFingerprints
};

/// More than any recorder writes: bounds what a forged file can make the vote cost.
inline constexpr size_t kMaxFingerprints = size_t{1} << 16;

/// Whether `path` begins like a capture of the older Rust profiler. Error: it cannot be read.
[[nodiscard]] Result<bool> is_legacy_file(const std::string& path);

/// Reads everything of `path` but the samples.
[[nodiscard]] Result<CaptureInput> survey_capture(const std::string& path);

/// Wall ns of the last thing that the file says of itself; 0: it says nothing.
[[nodiscard]] WallNs end_of(const CaptureInput& input) noexcept;

/// "wall at 99 Hz", "icount, every 100000 instructions": how the samples were taken.
[[nodiscard]] std::string describe_mode(const CaptureInput& input);

}  // namespace qperf::analysis
