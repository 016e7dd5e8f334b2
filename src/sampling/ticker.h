#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <mutex>
#include <thread>

#include "sampling/sampler.h"

namespace qperf::sampling {

/// The timer thread of mode=wall. Ticks issued = elapsed time x freq whatever the host's scheduler does: a late wake-up issues
/// all ticks that were missed, at once.
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

 private:
  void run();

  Sampler& sampler_;
  std::thread thread_;
  std::atomic<uint64_t> begin_ns_{0};  // CLOCK_MONOTONIC; 0: not yet
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stopping_ = false;  // under mutex_
};

}  // namespace qperf::sampling
