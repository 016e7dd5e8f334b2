#include "sampling/tick_schedule.h"

#include <gtest/gtest.h>

namespace qperf::sampling {
namespace {

constexpr uint64_t kBeginNs = 5'000'000'000'000;
constexpr uint64_t kMs = 1'000'000;

TEST(TickSchedule, TicksAreElapsedTimeTimesFrequencyHoweverLateItIsAsked) {
  for (const uint64_t freq_hz : {1U, 99U, 999U, 1000U, 9999U, 10000U}) {
    TickSchedule schedule(freq_hz, kBeginNs);
    uint64_t ticks = 0;
    uint64_t now_ns = kBeginNs;
    for (uint64_t step = 1; now_ns < kBeginNs + 20 * kNsPerSecond; ++step) {
      now_ns += step * 7919 * kMs % (500 * kMs);  // up to half a second late, as under bench/interleave
      const auto due = schedule.take(now_ns);
      EXPECT_EQ(due.standstill_ns, 0U);
      ticks += due.ticks;
      EXPECT_EQ(ticks, (now_ns - kBeginNs) * freq_hz / kNsPerSecond) << freq_hz << " Hz";
    }
  }
}

TEST(TickSchedule, ATickIsDueAtTheTimeThatIsTold) {
  for (const uint64_t freq_hz : {1U, 3U, 99U, 7001U, 10000U}) {
    TickSchedule schedule(freq_hz, kBeginNs);
    for (uint64_t tick = 1; tick <= 1000; ++tick) {
      const uint64_t due_ns = schedule.next_due_ns();
      EXPECT_NEAR(static_cast<double>(due_ns - kBeginNs), static_cast<double>(tick) * 1e9 / static_cast<double>(freq_hz), 2);
      EXPECT_EQ(schedule.take(due_ns - 2).ticks, 0U) << freq_hz << " Hz";
      EXPECT_EQ(schedule.take(due_ns).ticks, 1U) << freq_hz << " Hz";
    }
  }
}

TEST(TickSchedule, ASecondLateIsStillTheGuestsTime) {
  TickSchedule schedule(100, kBeginNs);
  const auto due = schedule.take(schedule.next_due_ns() + TickSchedule::kLongestDelayNs);
  EXPECT_EQ(due.ticks, 101U);
  EXPECT_EQ(due.standstill_ns, 0U);
}

TEST(TickSchedule, AStandstillGivesTheAwaitedTickAloneAndIsTold) {
  TickSchedule schedule(100, kBeginNs);
  EXPECT_EQ(schedule.take(kBeginNs + 55 * kMs).ticks, 5U);
  const uint64_t awaited_ns = schedule.next_due_ns();
  const auto due = schedule.take(awaited_ns + 3600 * kNsPerSecond);
  EXPECT_EQ(due.ticks, 1U);
  EXPECT_EQ(due.standstill_ns, 3600 * kNsPerSecond);
  EXPECT_EQ(schedule.next_due_ns(), awaited_ns + 3600 * kNsPerSecond + 10 * kMs) << "the next one a period later";
  // Two standstills and the time between them.
  const auto between = schedule.take(schedule.next_due_ns() + 500 * kMs);
  EXPECT_EQ(between.ticks, 51U);
  EXPECT_EQ(between.standstill_ns, 0U);
  const auto second = schedule.take(schedule.next_due_ns() + 2 * kNsPerSecond);
  EXPECT_EQ(second.ticks, 1U);
  EXPECT_EQ(second.standstill_ns, 2 * kNsPerSecond);
}

}  // namespace
}  // namespace qperf::sampling
