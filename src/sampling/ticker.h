#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>

#include "sampling/sampler.h"
#include "sampling/thread_state.h"
#include "sampling/tick_schedule.h"

namespace qperf::sampling {

/// The timer thread of mode=wall. Ticks issued = elapsed time x freq whatever the host's scheduler does: a late wake-up issues
/// all ticks that were missed, at once. Only time in which the whole emulator stood still gives none (TickSchedule).
class Ticker {
 public:
  /// `report` gets one line for the user, without end.
  Ticker(Sampler& sampler, std::function<void(const std::string&)> report) : sampler_(sampler), report_(std::move(report)) {}
  ~Ticker() { stop(); }
  Ticker(const Ticker&) = delete;
  Ticker& operator=(const Ticker&) = delete;

  void start();
  /// Joins the thread. Idempotent; not the timer thread.
  void stop();

  /// All vCPUs of the start are initialised: time counts from now. `shared_thread`: the id of the one that runs all vCPUs.
  /// Any thread, allocates and locks nothing.
  void begin(std::optional<int> shared_thread) noexcept;

  /// Issues what has fallen due, so that a change of the sampler's state holds from now on. The writer thread.
  void catch_up();
  /// How long the emulator has stood still while sampling was switched on. Any thread.
  [[nodiscard]] WallNs standstill_ns() const noexcept { return standstill_ns_.load(std::memory_order_relaxed); }

 private:
  void run();
  void prepare(uint64_t begin_ns);  // under mutex_
  uint64_t take_due();              // under mutex_; ticks
  void issue_due();                 // under mutex_

  Sampler& sampler_;
  std::function<void(const std::string&)> report_;
  std::thread thread_;
  std::optional<int> shared_thread_;   // before begin_ns_
  std::atomic<uint64_t> begin_ns_{0};  // CLOCK_MONOTONIC; 0: not yet
  std::atomic<WallNs> standstill_ns_{0};
  std::mutex mutex_;
  std::condition_variable wake_;
  std::optional<TickSchedule> schedule_;  // under mutex_; nullopt: time does not count yet
  ThreadState shared_thread_state_;       // with schedule_
  bool stopping_ = false;                 // under mutex_
};

}  // namespace qperf::sampling
