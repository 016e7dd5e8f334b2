#pragma once

#include <cstdint>

#include "profile/ids.h"

/// Sums over named stacks as reports show them. Everything here takes stacks root first, as profile::NamedStacks holds them, and
/// keeps their weight: whatever is left out is named in the result.
namespace qperf::report {

/// The weight of one stack in one group (a vCPU, a task, ...). Pairs may repeat.
struct Row {
  uint32_t group = 0;
  profile::StackId stack;
  uint64_t weight = 0;
};

}  // namespace qperf::report
