#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/types.h"

namespace qperf::unwind {

inline constexpr uint64_t kPageBytes = 4096;

/// Pages in which walks lately found frames: known to be stack memory, where reading has no side effects. Forgets: a page that
/// falls on another's place replaces it. Any vCPU thread may call anything at any time; nothing waits.
class StackPages {
 public:
  void note(GuestVa address) noexcept { place(address).store(page(address), std::memory_order_relaxed); }
  // Relaxed: a page is known or it is not; nothing else is read on the strength of it but the guest's memory.
  [[nodiscard]] bool knows(GuestVa address) noexcept {
    return place(address).load(std::memory_order_relaxed) == page(address);
  }

 private:
  static constexpr unsigned kPlacesLog2 = 10;  // 4 MiB of stacks

  static uint64_t page(GuestVa address) noexcept { return address.raw / kPageBytes + 1; }  // 0: none
  /// Spread: stacks are apart by powers of two.
  std::atomic<uint64_t>& place(GuestVa address) noexcept {
    return pages_[page(address) * 0x9e3779b97f4a7c15 >> (64 - kPlacesLog2)];
  }

  std::array<std::atomic<uint64_t>, size_t{1} << kPlacesLog2> pages_{};
};

}  // namespace qperf::unwind
