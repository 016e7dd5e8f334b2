#include <gtest/gtest.h>

#include "timeline/clock_map.h"
#include "timeline/nearest_sample.h"
#include "timeline/wait_split.h"

namespace qperf::timeline {
namespace {

using qemutrace::Stage;
using qemutrace::TraceClock;

constexpr uint64_t kUs = 1000;

capture::Summary summary_with(uint64_t monotonic, uint64_t realtime, uint64_t end_wall, uint64_t end_realtime) {
  capture::Summary summary;
  summary.header.start_monotonic_ns = monotonic;
  summary.header.start_realtime_ns = realtime;
  summary.trailer.emplace();
  summary.trailer->end_wall_ns = end_wall;
  summary.trailer->end_realtime_ns = end_realtime;
  return summary;
}

TEST(ClockMap, TakesTheCapturesOwnClockAsItIs) {
  const auto map = *ClockMap::make(summary_with(5000, 0, 0, 0), TraceClock::kMonotonic);
  EXPECT_EQ(map.wall_ns(5007), 7);
  EXPECT_EQ(map.wall_ns(4000), -1000);
  EXPECT_EQ(map.residual_ns(), 0U);
}

TEST(ClockMap, DrawsALineThroughTwoReadings) {
  constexpr uint64_t kEpoch = 1'700'000'000'000'000'000;
  const auto map = *ClockMap::make(summary_with(1, kEpoch, 1'000'000'000, kEpoch + 1'000'000'500), TraceClock::kRealtime);
  EXPECT_EQ(map.wall_ns(kEpoch), 0);
  EXPECT_EQ(map.wall_ns(kEpoch + 1'000'000'500), 1'000'000'000);
  EXPECT_NEAR(static_cast<double>(map.wall_ns(kEpoch + 500'000'250)), 500'000'000, 1);
  EXPECT_EQ(map.residual_ns(), 500U);
  EXPECT_NE(map.description().find("went 500 ns apart over 1.000000000 s"), std::string::npos);
}

TEST(ClockMap, SaysWhatItCannotKnow) {
  auto cut = summary_with(1, 1000, 0, 0);
  cut.trailer.reset();
  const auto map = *ClockMap::make(cut, TraceClock::kRealtime);
  EXPECT_FALSE(map.residual_known());
  EXPECT_EQ(map.wall_ns(1500), 500);
  EXPECT_FALSE(ClockMap::make(cut, TraceClock::kNone).ok());
}

TEST(ClockMap, SurvivesForgedReadings) {
  const auto extremes = {uint64_t{0}, uint64_t{1}, ~uint64_t{0} / 2, ~uint64_t{0}};
  for (const uint64_t start : extremes) {
    for (const uint64_t end_wall : extremes) {
      for (const uint64_t end_realtime : extremes) {
        const auto map = *ClockMap::make(summary_with(start, start, end_wall, end_realtime), TraceClock::kRealtime);
        for (const uint64_t stamp : extremes) (void)map.wall_ns(stamp);
        (void)map.description();
      }
    }
  }
  // As far apart as the clocks can be.
  EXPECT_GT(ClockMap::make(summary_with(0, ~uint64_t{0}, ~uint64_t{0}, 0), TraceClock::kRealtime)->residual_ns(), ~uint64_t{0} / 4);
}

/// A line as steep as forged readings can make it ends at the limits of its numbers.
TEST(ClockMap, StopsAtTheLimits) {
  const auto map = *ClockMap::make(summary_with(0, 0, ~uint64_t{0} / 2, 1), TraceClock::kRealtime);
  EXPECT_EQ(map.wall_ns(~uint64_t{0}), INT64_MAX);
  EXPECT_GT(map.wall_ns(1), int64_t{1} << 62);
}

TEST(NearestSample, FindsTheNearerSideWithinTheBound) {
  NearestSample samples;
  samples.add(VcpuIndex{1}, 300, 3);
  samples.add(VcpuIndex{1}, 100, 1);
  samples.add(VcpuIndex{0}, 200, 2);
  samples.seal();
  EXPECT_EQ(samples.find(1, 140, 50)->what, 1U);
  EXPECT_EQ(samples.find(1, 260, 50)->what, 3U);
  EXPECT_EQ(samples.find(1, 260, 50)->distance_ns, 40U);
  EXPECT_EQ(samples.find(1, 200, 100)->what, 1U);  // equally far
  EXPECT_FALSE(samples.find(1, 200, 99));
  EXPECT_FALSE(samples.find(2, 200, 1000));
  EXPECT_EQ(samples.find(0, -50, 250)->what, 2U);
}

/// A request whose stages are given in microseconds of the capture's clock.
PlacedRequest request(uint64_t sector, bool is_write, std::initializer_list<std::pair<Stage, int64_t>> at_us) {
  PlacedRequest placed;
  placed.request.sector = sector;
  placed.request.sectors = 8;
  placed.request.is_write = is_write;
  placed.request.is_transfer = true;
  for (const auto& [stage, us] : at_us) placed.at_ns[static_cast<size_t>(stage)] = us * 1000;
  return placed;
}

DiskWait wait(uint64_t task, bool is_write, uint64_t sector, uint64_t announced_us, uint64_t from_us, uint64_t woken_us, uint64_t run_us) {
  DiskWait w;
  w.task = TaskId{task};
  w.is_write = is_write;
  w.detail = sector;
  w.announced_ns = announced_us * kUs;
  w.from_ns = from_us * kUs;
  w.woken_ns = woken_us * kUs;
  w.run_ns = run_us * kUs;
  return w;
}

Split split(const DiskWaits& waits, std::vector<PlacedRequest>& requests) {
  const auto clock = *ClockMap::make(summary_with(0, 0, 0, 0), TraceClock::kMonotonic);
  return split_waits(waits, requests, clock, 1'000'000 * kUs);
}

TEST(WaitSplit, AddsUpToTheWholeWait) {
  std::vector<PlacedRequest> requests = {request(
      8, false, {{Stage::kPop, 120}, {Stage::kSubmit, 150}, {Stage::kHostDone, 400}, {Stage::kFill, 420}, {Stage::kInterrupt, 430}})};
  DiskWaits waits;
  waits.waits = {wait(1, false, 8, 100, 110, 450, 500)};
  const Split out = split(waits, requests);
  ASSERT_EQ(out.waits.size(), 1U);
  EXPECT_TRUE(out.waits[0].by_sector && out.waits[0].host_known);
  EXPECT_EQ(out.waits[0].contradiction_ns, 0U);
  EXPECT_EQ(out.waits[0].parts_ns, (std::array<uint64_t, kWaitParts>{10 * kUs, 60 * kUs, 250 * kUs, 20 * kUs, 50 * kUs}));
}

TEST(WaitSplit, CountsOnlyWhatLiesInTheWait) {
  // QEMU took the request and gave it to the host before the task had left its CPU; the host's events of the second are missing.
  std::vector<PlacedRequest> requests = {
      request(8, true, {{Stage::kPop, 105}, {Stage::kSubmit, 107}, {Stage::kHostDone, 300}, {Stage::kFill, 310}}),
      request(9, true, {{Stage::kPop, 620}, {Stage::kFill, 710}})};
  DiskWaits waits;
  waits.waits = {wait(1, true, 8, 100, 200, 330, 330), wait(1, true, 9, 600, 610, 700, 720)};
  const Split out = split(waits, requests);
  ASSERT_EQ(out.waits.size(), 2U);
  EXPECT_EQ(out.waits[0].parts_ns, (std::array<uint64_t, kWaitParts>{0, 10 * kUs, 100 * kUs, 20 * kUs, 0}));
  EXPECT_FALSE(out.waits[1].host_known);
  EXPECT_EQ(out.waits[1].contradiction_ns, 10 * kUs);  // told after the wake
  EXPECT_EQ(out.waits[1].parts_ns, (std::array<uint64_t, kWaitParts>{10 * kUs, 80 * kUs, 0, 0, 20 * kUs}));
}

TEST(WaitSplit, MatchesByDirectionAndTimeWithoutSectors) {
  std::vector<PlacedRequest> requests = {request(1, false, {{Stage::kPop, 110}, {Stage::kFill, 200}}),
                                         request(2, false, {{Stage::kPop, 120}, {Stage::kFill, 300}}),
                                         request(3, true, {{Stage::kPop, 130}, {Stage::kFill, 310}}),
                                         request(4, false, {{Stage::kPop, 5000}, {Stage::kFill, 5010}})};
  DiskWaits waits;
  waits.waits = {wait(1, false, 777, 100, 101, 205, 210), wait(2, false, 777, 115, 116, 305, 310), wait(3, true, 777, 125, 126, 315, 316),
                 wait(4, true, 777, 2000, 2001, 2100, 2101)};
  const Split out = split(waits, requests);
  ASSERT_EQ(out.waits.size(), 3U);
  for (size_t i = 0; i < 3; ++i) {
    EXPECT_EQ(out.waits[i].request->request.sector, i + 1);
    EXPECT_FALSE(out.waits[i].by_sector);
  }
  ASSERT_EQ(out.unmatched_waits.size(), 1U);
  EXPECT_EQ(out.unmatched_waits[0]->task.raw, 4U);
  EXPECT_EQ(out.unmatched_requests, 1U);
}

TEST(WaitSplit, TakesAFlushForAWrite) {
  std::vector<PlacedRequest> requests = {request(0, false, {{Stage::kPop, 110}, {Stage::kFill, 200}})};
  requests[0].request.is_transfer = false;
  DiskWaits waits;
  waits.waits = {wait(1, true, 0, 100, 101, 205, 210)};
  EXPECT_EQ(split(waits, requests).waits.size(), 1U);
}

}  // namespace
}  // namespace qperf::timeline
