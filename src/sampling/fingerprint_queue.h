#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/types.h"
#include "sampling/block_table.h"

namespace qperf::sampling {

/// Instruction bytes of some translated kernel blocks, on their way to the writer.
/// - Any vCPU thread pushes, the writer pops; lock-free, nothing is allocated.
/// - A budget decides which: kBurst at once, then kPerSecond while the total is below kEager, kPerSecondLater after that.
///   A guest at rest saves up for a burst, so that a reboot (with another slide of the kernel) is seen at once.
/// - A block is taken once; again only if its bytes have changed.
class FingerprintQueue {
 public:
  static constexpr size_t kMaxBytes = 32;
  static constexpr size_t kCapacity = 256;  // a power of two
  static constexpr uint64_t kBurst = 64;
  static constexpr uint64_t kPerSecond = 16;
  static constexpr uint64_t kPerSecondLater = 1;
  static constexpr uint64_t kEager = 1024;

  struct Item {
    WallNs wall_ns = 0;
    GuestVa address;
    uint32_t size_bytes = 0;
    std::array<std::byte, kMaxBytes> bytes{};
  };

  FingerprintQueue() noexcept;

  /// True if take_budget() would probably succeed: spares the callers the bytes. Any thread.
  [[nodiscard]] bool has_budget(WallNs now) const noexcept;
  /// True if the budget allows one now (it is then spent). Call only for a block whose bytes are new.
  [[nodiscard]] bool take_budget(WallNs now) noexcept;
  /// `bytes`: 1..kMaxBytes. False if the queue is full (counted).
  bool push(WallNs now, GuestVa address, std::span<const std::byte> bytes) noexcept;
  /// Writer only.
  bool pop(Item& item) noexcept;

  [[nodiscard]] uint64_t dropped() const noexcept { return dropped_.load(std::memory_order_relaxed); }

 private:
  [[nodiscard]] uint64_t token_ns() const noexcept;

  struct Cell {
    std::atomic<uint64_t> turn{0};  // cell i: i + 2kN free for the push number i + kN, +1 when filled
    Item item;
  };

  std::array<Cell, kCapacity> cells_;
  alignas(64) std::atomic<uint64_t> pushes_{0};
  alignas(64) uint64_t pops_ = 0;
  std::atomic<uint64_t> spent_{0};          // budget taken in all
  std::atomic<uint64_t> empty_at_ns_{0};    // when the budget, at its rate, was or will be empty: the classic leaky bucket
  std::atomic<uint64_t> dropped_{0};
};

}  // namespace qperf::sampling
