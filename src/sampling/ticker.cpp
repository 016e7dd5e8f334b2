#include "sampling/ticker.h"

#include <chrono>

#include "sampling/clock.h"
#include "sampling/wide_math.h"
#include "sampling/worker_thread.h"

namespace qperf::sampling {

void Ticker::start() {
  thread_ = start_worker("qperf-timer", [this] { run(); });
}

void Ticker::stop() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  wake_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Ticker::begin() noexcept { begin_ns_.store(clock_ns(), std::memory_order_release); }

void Ticker::run() {
  using std::chrono::nanoseconds;
  using std::chrono::steady_clock;  // CLOCK_MONOTONIC
  constexpr uint64_t kPollForBeginNs = 5'000'000;
  const uint64_t freq_hz = sampler_.options().freq_hz;
  uint64_t issued = 0;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const uint64_t begin_ns = begin_ns_.load(std::memory_order_acquire);  // pairs with the release in begin()
    const auto due_ns = [&](uint64_t tick) { return begin_ns + multiply_divide(tick, kNsPerSecond, freq_hz); };
    const uint64_t wake_ns = begin_ns == 0 ? clock_ns() + kPollForBeginNs : due_ns(issued + 1);
    wake_.wait_until(lock, steady_clock::time_point{nanoseconds(wake_ns)});
    if (stopping_ || begin_ns == 0) continue;
    const uint64_t elapsed = multiply_divide(clock_ns() - begin_ns, freq_hz, kNsPerSecond);
    if (elapsed == issued) continue;
    sampler_.issue_ticks(elapsed - issued, due_ns(elapsed));
    issued = elapsed;
  }
}

}  // namespace qperf::sampling
