#include "sampling/ticker.h"

#include <chrono>

#include "sampling/clock.h"
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
  if (!thread_.joinable()) return;
  thread_.join();
  const std::lock_guard lock(mutex_);
  take_due();  // the emulator may have been continued and ended at once; ticks of the last moment are nobody's any more
}

void Ticker::begin(std::optional<int> shared_thread) noexcept {
  shared_thread_ = shared_thread;
  begin_ns_.store(clock_ns(), std::memory_order_release);  // pairs with the acquire in run()
}

void Ticker::prepare(uint64_t begin_ns) {
  schedule_.emplace(sampler_.options().freq_hz, begin_ns);
  if (!shared_thread_) return;
  if (const auto opened = shared_thread_state_.open(*shared_thread_); !opened)
    report_("qperf: " + opened.error().message + ": without it ticks of idle time are charged to the code that ends it");
}

void Ticker::catch_up() {
  const std::lock_guard lock(mutex_);
  issue_due();
}

uint64_t Ticker::take_due() {
  if (!schedule_) return 0;
  const auto due = schedule_->take(clock_ns());
  // While sampling is switched off all time counts as stopped already.
  if (sampler_.enabled()) standstill_ns_.fetch_add(due.standstill_ns, std::memory_order_relaxed);
  return due.ticks;
}

void Ticker::issue_due() {
  const uint64_t ticks = take_due();
  if (ticks != 0) sampler_.issue_ticks(ticks, shared_thread_state_.sleeps() ? OneThread::kSleeps : OneThread::kRuns);
}

void Ticker::run() {
  using std::chrono::nanoseconds;
  using std::chrono::steady_clock;  // CLOCK_MONOTONIC
  constexpr uint64_t kPollForBeginNs = 5'000'000;
  std::unique_lock lock(mutex_);
  while (!stopping_) {
    const uint64_t begin_ns = begin_ns_.load(std::memory_order_acquire);
    if (begin_ns != 0 && !schedule_) prepare(begin_ns);
    const uint64_t wake_ns = schedule_ ? schedule_->next_due_ns() : clock_ns() + kPollForBeginNs;
    wake_.wait_until(lock, steady_clock::time_point{nanoseconds(wake_ns)});
    if (!stopping_) issue_due();
  }
}

}  // namespace qperf::sampling
