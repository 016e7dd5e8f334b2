#pragma once

#include <ctime>

#include "base/types.h"

namespace qperf::sampling {

inline constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// CLOCK_MONOTONIC (or another clock) in ns; about 25 ns, no system call on the hosts we know.
[[nodiscard]] inline uint64_t clock_ns(clockid_t clock = CLOCK_MONOTONIC) noexcept {
  timespec now{};
  clock_gettime(clock, &now);
  return static_cast<uint64_t>(now.tv_sec) * kNsPerSecond + static_cast<uint64_t>(now.tv_nsec);
}

}  // namespace qperf::sampling
