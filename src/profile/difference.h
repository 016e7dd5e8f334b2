#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "base/types.h"
#include "profile/ids.h"
#include "profile/weights.h"

namespace qperf::profile {

/// One stack's weight in two profiles of the same NamedStacks.
struct Change {
  std::optional<VcpuIndex> vcpu;  // set if kept apart by vCPU
  StackId stack;
  uint64_t before = 0;
  uint64_t after = 0;
};

enum class ByVcpu : uint8_t { kTogether, kApart };

/// Stacks of either side, a missing side is 0. By (vCPU, stack id), so that the order does not depend on the tables'.
[[nodiscard]] std::vector<Change> difference(const WeightTable& before, const WeightTable& after, ByVcpu by_vcpu);

}  // namespace qperf::profile
