#include "sampling/block_table.h"

namespace qperf::sampling {
namespace {

/// Spreads the key's bits; the constants are those of SplitMix64's finalizer.
uint64_t mix(uint64_t key) noexcept {
  key = (key ^ (key >> 30)) * 0xbf58476d1ce4e5b9;
  key = (key ^ (key >> 27)) * 0x94d049bb133111eb;
  return key ^ (key >> 31);
}

}  // namespace

Result<void> BlockTable::allocate(size_t capacity) {
  QPERF_ASSIGN_OR_RETURN(memory_, ring::MappedMemory::allocate(capacity * sizeof(Block), "block table"));
  // Zeroed pages are free blocks: no constructor has to run, and no page is touched before its first block.
  blocks_ = reinterpret_cast<Block*>(memory_.data());
  capacity_ = capacity;
  return {};
}

Block* BlockTable::intern(GuestVa pc, uint32_t insns) noexcept {
  const uint64_t start = mix(pc.raw + (uint64_t{insns} << 48));
  for (size_t probe = 0; pc.raw != 0 && insns != 0 && probe < kMaxProbes; ++probe) {
    Block& block = blocks_[(start + probe) & (capacity_ - 1)];
    // A slot is claimed in two steps, pc first, then insns. Both words only ever go from zero to their final value, so relaxed
    // order suffices: whoever sees a value sees the final one, and a claim cut short is finished by the next one with that pc.
    uint64_t seen_pc = block.pc.load(std::memory_order_relaxed);
    if (seen_pc == 0 && block.pc.compare_exchange_strong(seen_pc, pc.raw, std::memory_order_relaxed)) seen_pc = pc.raw;
    if (seen_pc != pc.raw) continue;
    uint32_t seen_insns = block.insns.load(std::memory_order_relaxed);
    if (seen_insns == 0 && block.insns.compare_exchange_strong(seen_insns, insns, std::memory_order_relaxed))
      seen_insns = insns;
    if (seen_insns == insns) return &block;
  }
  refused_.fetch_add(1, std::memory_order_relaxed);  // a statistic, orders nothing
  return nullptr;
}

}  // namespace qperf::sampling
