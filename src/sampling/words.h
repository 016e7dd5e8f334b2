#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <type_traits>

#include "base/types.h"

namespace qperf::sampling {

/// One vCPU's words that generated code touches in every block. They live in memory of the emulator that may MOVE when vCPUs
/// are added, so nobody keeps a pointer to them. 64 bytes: a power of two keeps the index a shift in the generated code, and
/// two vCPUs never share a cache line.
struct Words {
  uint64_t insns = 0;  // inline ADD by the vCPU; icount: since the last sample, otherwise in total
  uint64_t due = 0;    // ticks to take: added by the timer thread, exchanged by the vCPU, compared by generated code
  uint64_t unused[6] = {};
};
static_assert(sizeof(Words) == 64);

/// Finds the words. Implemented by the emulator's glue, and by a plain array in tests.
class WordsSource {
 public:
  virtual ~WordsSource() = default;
  /// For an initialised vCPU only. vCPU threads, which are stopped while the words move; others inside of while_still().
  virtual Words& words(VcpuIndex vcpu) noexcept = 0;
  /// mode=exact: how often the vCPU executed each block, by index in the block table. Threads as for words().
  virtual std::span<uint64_t> executions(VcpuIndex vcpu) noexcept = 0;

  /// Runs `work` at once and keeps the words where they are meanwhile. Any thread but a vCPU's. `work` waits for nothing: a vCPU
  /// that is being added waits for it.
  template <typename Work>
  void while_still(Work&& work) noexcept {
    using Plain = std::remove_reference_t<Work>;
    hold_still([](void* argument) { (*static_cast<Plain*>(argument))(); }, std::addressof(work));
  }

 protected:
  virtual void hold_still(void (*work)(void*), void* argument) noexcept { work(argument); }
};

/// Adds to a counter that only this thread writes and others read: no locked instruction needed.
inline void bump(std::atomic<uint64_t>& counter, uint64_t by) noexcept {
  // Pairs with the acquire in value(): who sees this count sees what was counted before it, so that a bucket never runs ahead
  // of the ticks that were issued.
  counter.store(counter.load(std::memory_order_relaxed) + by, std::memory_order_release);
}

[[nodiscard]] inline uint64_t value(const std::atomic<uint64_t>& counter) noexcept {
  return counter.load(std::memory_order_acquire);  // see bump()
}

}  // namespace qperf::sampling
