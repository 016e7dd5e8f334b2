#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "analysis/capture_input.h"
#include "analysis/image_set.h"
#include "base/result.h"
#include "base/types.h"
#include "profile/located.h"

namespace qperf::analysis {

/// The root of a stack that has none of its own.
inline constexpr uint32_t kNoRoot = profile::LocatedRow::kNoRoot;

/// Chooses samples, and tells their stacks apart by something that is not in the sample itself.
class SampleView {
 public:
  virtual ~SampleView() = default;
  /// Called once, when the ELFs are placed and before the samples are read.
  virtual Result<void> prepare(const CaptureInput& input, const ImageSet& images) = 0;
  /// Called once, after the samples are read: what prepare() began beside the reading ends here.
  virtual Result<void> finish() { return {}; }
  /// nullopt: the sample is left out. Else a number for root_name(), or kNoRoot.
  virtual std::optional<uint32_t> root_of(VcpuIndex vcpu, TaskId task, WallNs wall_ns) = 0;
  /// The frame that stacks of this number get as their root, printable; nullopt: they get none.
  [[nodiscard]] virtual std::optional<std::string> root_name(uint32_t root) const = 0;
};

}  // namespace qperf::analysis
