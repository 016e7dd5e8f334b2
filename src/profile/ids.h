#pragma once

#include <compare>
#include <cstdint>

namespace qperf::profile {

/// A distinct stack of one table; dense from 0 in order of first sight.
struct StackId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(StackId, StackId) = default;
};

/// A distinct source-level frame (name and file) of one FrameTable; dense from 0 in order of first sight.
struct FrameId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(FrameId, FrameId) = default;
};

/// Weights come from untrusted files: a sum stops at the largest value instead of wrapping.
[[nodiscard]] constexpr uint64_t saturating_add(uint64_t a, uint64_t b) noexcept {
  const uint64_t sum = a + b;
  return sum < a ? ~uint64_t{0} : sum;
}

[[nodiscard]] constexpr uint64_t saturating_multiply(uint64_t a, uint64_t b) noexcept {
  return a != 0 && b > ~uint64_t{0} / a ? ~uint64_t{0} : a * b;
}

}  // namespace qperf::profile
