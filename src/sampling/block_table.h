#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#include "base/result.h"
#include "base/types.h"
#include "ring/mapped_memory.h"

namespace qperf::sampling {

/// What a callback must know about its block, at an address that never changes: the callback's userdata.
struct Block {
  std::atomic<uint64_t> pc{0};              // 0: free
  std::atomic<uint32_t> insns{0};           // 0: claimed, not yet finished
  std::atomic<uint32_t> text_hash{0};       // of the instruction bytes last queued as a fingerprint; 0: none
};
static_assert(sizeof(Block) == 16);

/// Lock-free set of translated kernel blocks, keyed by (pc, instructions). Any thread; wait-free but for the bounded probe.
/// - One allocation, at start; memory is touched as blocks appear.
/// - Translating the same block again (after a flush of the code cache) finds the same slot: nothing is ever freed or leaked.
/// - A full table is a counted outcome, not an error.
class BlockTable {
 public:
  static constexpr size_t kDefaultCapacity = size_t{1} << 20;
  static constexpr size_t kExactCapacity = size_t{1} << 18;
  /// Longest probe: bounds the time of intern() when the table is nearly full.
  static constexpr size_t kMaxProbes = 128;

  /// `capacity`: a power of two.
  Result<void> allocate(size_t capacity);

  /// The block's slot, or nullptr if there is no room (counted) or the key is one that cannot be stored (pc 0).
  [[nodiscard]] Block* intern(GuestVa pc, uint32_t insns) noexcept;

  [[nodiscard]] uint32_t index_of(const Block& block) const noexcept {
    return static_cast<uint32_t>(&block - blocks_);
  }
  [[nodiscard]] const Block& at(uint32_t index) const noexcept { return blocks_[index]; }
  [[nodiscard]] size_t capacity() const noexcept { return capacity_; }
  [[nodiscard]] uint64_t refused() const noexcept { return refused_.load(std::memory_order_relaxed); }

 private:
  ring::MappedMemory memory_;
  Block* blocks_ = nullptr;
  size_t capacity_ = 0;
  std::atomic<uint64_t> refused_{0};
};

}  // namespace qperf::sampling
