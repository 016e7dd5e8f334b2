#include "sched/interval_log.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace qperf::sched {
namespace {

Interval interval(uint32_t task, TaskState state, WallNs from_ns, WallNs to_ns) {
  Interval made;
  made.task = TaskIndex{task};
  made.state = state;
  made.from_ns = from_ns;
  made.to_ns = to_ns;
  made.vcpu = VcpuIndex{3};
  return made;
}

TEST(IntervalLog, KeepsWhatLiesInTheWindow) {
  const Window window(SpanSet({{100, 200}, {300, 400}}));
  IntervalLog log(window);
  log.add(interval(1, TaskState::kRunning, 0, 100), std::nullopt);
  log.add(interval(1, TaskState::kRunning, 150, 350), std::nullopt);
  log.add(interval(1, TaskState::kBlocked, 350, 900), 7U);
  log.halted(VcpuIndex{2}, 199, 301);
  ASSERT_EQ(log.tasks().size(), 3U);
  EXPECT_EQ(log.tasks()[0].from_ns, 150U);
  EXPECT_EQ(log.tasks()[0].length_ns, 50U);
  EXPECT_TRUE(log.tasks()[0].state.is_running());
  EXPECT_EQ(log.tasks()[0].state.vcpu().raw, 3U);
  EXPECT_EQ(log.tasks()[1].from_ns, 300U);
  EXPECT_TRUE(log.tasks()[2].state.is_waiting());
  EXPECT_EQ(log.tasks()[2].state.entry(), 7U);
  EXPECT_EQ(log.tasks()[2].length_ns, 50U);
  ASSERT_EQ(log.halts().size(), 2U);
  EXPECT_EQ(log.halts()[0].length_ns + log.halts()[1].length_ns, 2U);
  EXPECT_EQ(log.resolution_ns(), 0U);
}

TEST(IntervalLog, JoinsRowsWithoutLosingTime) {
  const Window window;
  IntervalLog log(window, 2000);
  std::mt19937_64 random(3);
  std::map<std::pair<uint32_t, uint32_t>, uint64_t> sums;
  WallNs now = 0;
  for (int i = 0; i < 30000; ++i) {
    const auto task = static_cast<uint32_t>(random() % 5);
    const auto entry = static_cast<uint32_t>(random() % 3);
    const uint64_t length = 1 + random() % 5000;
    log.add(interval(task, TaskState::kBlocked, now, now + length), entry);
    sums[{task, entry}] += length;
    now += length;
    ASSERT_LE(log.tasks().size(), 2000U);
  }
  EXPECT_GT(log.resolution_ns(), 0U);
  auto rows = std::vector(log.tasks().begin(), log.tasks().end());
  EXPECT_GT(IntervalLog::join_until(rows, 15, 1), log.resolution_ns());
  EXPECT_EQ(rows.size(), 15U);
  for (const auto& row : rows) {
    const auto key = std::pair(row.owner, row.state.entry());
    EXPECT_EQ(row.length_ns, sums[key]);
  }
}

}  // namespace
}  // namespace qperf::sched
