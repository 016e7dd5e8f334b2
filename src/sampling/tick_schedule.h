#pragma once

#include <cstdint>

#include "sampling/clock.h"
#include "sampling/wide_math.h"

namespace qperf::sampling {

/// When the ticks of mode=wall fall due. Knows no clock: it is told the time (CLOCK_MONOTONIC ns).
class TickSchedule {
 public:
  /// A timer thread that wakes up later than this was stopped together with the emulator (SIGSTOP, a debugger, a frozen
  /// container). What a busy host does to it, and programs that stop processes for slices of time, stay far below.
  static constexpr uint64_t kLongestDelayNs = kNsPerSecond;

  struct Due {
    uint64_t ticks = 0;
    uint64_t standstill_ns = 0;  // no time of the guest: ticks neither have fallen due in it nor will
  };

  TickSchedule(uint64_t freq_hz, uint64_t begin_ns) noexcept : freq_hz_(freq_hz), begin_ns_(begin_ns) {}

  [[nodiscard]] uint64_t next_due_ns() const noexcept {
    // Rounded up, so that the tick counts as due at the time that is told here.
    return begin_ns_ + multiply_divide(issued_ + 1, kNsPerSecond, freq_hz_) + 1;
  }

  /// Takes the ticks that have fallen due by `now_ns`: elapsed time x freq in all, without the time of standstills.
  Due take(uint64_t now_ns) noexcept {
    const uint64_t next_ns = next_due_ns();
    if (now_ns < next_ns) return {};
    Due due;
    if (now_ns - next_ns > kLongestDelayNs) due.standstill_ns = now_ns - next_ns;
    begin_ns_ += due.standstill_ns;  // the tick that was awaited falls due now, the others one by one after it
    const uint64_t elapsed = multiply_divide(now_ns - begin_ns_, freq_hz_, kNsPerSecond);
    due.ticks = elapsed - issued_;
    issued_ = elapsed;
    return due;
  }

 private:
  uint64_t freq_hz_;
  uint64_t begin_ns_;  // moved on by each standstill
  uint64_t issued_ = 0;
};

}  // namespace qperf::sampling
