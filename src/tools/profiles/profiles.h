#pragma once

#include <optional>
#include <vector>

#include "analysis/profile_capture.h"
#include "base/types.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// What is written: a capture's profile, and the one it is compared with.
struct Profiles {
  profile::NamedStacks& names;
  const analysis::CaptureProfile& current;
  const analysis::CaptureProfile* baseline = nullptr;

  /// vCPUs that have a sample in either, ascending.
  [[nodiscard]] std::vector<VcpuIndex> vcpus() const;
  /// Ticks or periods of the two are of different length: they are written as nanoseconds or instructions.
  [[nodiscard]] bool different_rates() const;
};

/// Which vCPU's part a file shows; nullopt: all of them together.
using Part = std::optional<VcpuIndex>;

}  // namespace qperf::tools
