#pragma once

#include <cstdint>

namespace qperf::sampling {

__extension__ typedef unsigned __int128 Uint128;  // NOLINT: `using` cannot carry the marker that -Wpedantic wants

/// a x b / divisor without overflow on the way.
[[nodiscard]] constexpr uint64_t multiply_divide(uint64_t a, uint64_t b, uint64_t divisor) noexcept {
  return static_cast<uint64_t>(static_cast<Uint128>(a) * b / divisor);
}

}  // namespace qperf::sampling
