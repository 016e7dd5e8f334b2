#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <optional>
#include <thread>

#include "sampling/sampler.h"
#include "sampling/tick_schedule.h"

namespace qperf::sampling {

/// The timer thread of mode=wall. Ticks issued = elapsed time x freq whatever the host's scheduler does: a late wake-up issues
/// all ticks that were missed, at once. Only time in which the whole emulator stood still gives none (TickSchedule).
class Ticker {
 public:
  explicit Ticker(Sampler& sampler) noexcept : sampler_(sampler) {}
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void start();
  /// Joins the thread. Idempotent; not the timer thread.
  void stop();

  /// All vCPUs of the start are initialised: time counts from now. Any thread, allocates and locks nothing.
  void begin() noexcept;

  /// Issues what has fallen due, so that a change of the sampler's state holds from now on. The writer thread.
  void catch_up();
  /// How long the emulator has stood still while sampling was switched on. Any thread.
  [[nodiscard]] WallNs standstill_ns() const noexcept { return standstill_ns_.load(std::memory_order_relaxed); }

 private:
  void run();
  uint64_t take_due();  // under mutex_; ticks
  void issue_due();     // under mutex_

  Sampler& sampler_;
  std::thread thread_;
  std::atomic<uint64_t> begin_ns_{0};  // CLOCK_MONOTONIC; 0: not yet
  std::atomic<WallNs> standstill_ns_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<TickSchedule> schedule_;  // under mutex_; nullopt: time does not count yet
  bool stopping_ = false;                 // under mutex_
};

}  // namespace qperf::sampling
