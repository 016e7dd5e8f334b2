#include "qemutrace/overlaps.h"

#include <gtest/gtest.h>

#include "qemutrace/trace_script.h"

namespace qperf::qemutrace {
namespace {

using testing::Script;
using End = OverlapFinder::End;

TEST(Overlaps, FindsPairsInFlightOnly) {
  Script script;
  script.event("virtio_blk_handle_write", {0xd, 1, 0, 8}).event("virtio_blk_handle_write", {0xd, 2, 7, 8});
  script.event("virtio_blk_handle_write", {0xe, 3, 7, 8});  // another device
  script.event("virtio_blk_req_complete", {0xd, 1, 0}).event("virtio_blk_handle_write", {0xd, 4, 0, 7});
  OverlapFinder finder(OverlapFinder::Range{7 * 512, 8 * 512}, std::nullopt);
  script.run_over(finder);
  ASSERT_EQ(finder.in_flight().size(), 1U);
  EXPECT_EQ(finder.in_flight()[0].later.begin_byte, 7U * 512);
  EXPECT_EQ(finder.in_range().size(), 3U);
  EXPECT_EQ(finder.writes(), 4U);
}

TEST(Overlaps, ReadsOldAndNewBlockEventsAlike) {
  for (const bool old : {false, true}) {
    Script script;
    if (old) script.event("bdrv_aio_writev", {0xb, 8, 8, 0}).event("bdrv_aio_writev", {0xb, 16, 8, 0});
    if (!old) script.event("blk_co_pwritev", {0xb, 0, 4096, 4096, 0}).event("blk_co_pwritev", {0xb, 0, 8192, 4096, 0});
    OverlapFinder finder(OverlapFinder::Range{15 * 512, 16 * 512}, 0xb);
    script.run_over(finder);
    ASSERT_EQ(finder.in_range().size(), 1U);
    EXPECT_EQ(finder.in_range()[0].begin_byte, 4096U);
  }
}

TEST(Overlaps, SaysOfEachPairWhetherTheEarlierWritesEndIsKnown) {
  Script script;
  script.event("virtio_blk_handle_write", {0xd, 1, 0, 8}).event("virtio_blk_handle_write", {0xd, 2, 0, 8});
  script.event("virtio_blk_req_complete", {0xd, 1, 0});  // 2 began before
  script.loss(1).event("virtio_blk_handle_write", {0xd, 2, 8, 8});  // the same address again
  script.event("virtio_blk_handle_write", {0xd, 3, 8, 8});
  OverlapFinder finder(std::nullopt, std::nullopt);
  script.run_over(finder);
  ASSERT_EQ(finder.in_flight().size(), 2U);
  EXPECT_EQ(finder.in_flight()[0].end, End::kSeen);
  EXPECT_EQ(finder.in_flight()[0].earlier.done_ns, 1'002'000U);
  EXPECT_FALSE(finder.in_flight()[0].loss_in_span);
  EXPECT_EQ(finder.in_flight()[1].end, End::kOpenAtEnd);
  EXPECT_FALSE(finder.in_flight()[1].earlier.done_ns);

  Script reused;
  reused.event("virtio_blk_handle_write", {0xd, 1, 0, 8}).event("virtio_blk_handle_write", {0xd, 2, 0, 8}).loss(1);
  reused.event("virtio_blk_handle_write", {0xd, 1, 64, 8}).event("virtio_blk_req_complete", {0xd, 2, 0});
  OverlapFinder doubtful(std::nullopt, std::nullopt);
  reused.run_over(doubtful);
  ASSERT_EQ(doubtful.in_flight().size(), 1U);
  EXPECT_EQ(doubtful.in_flight()[0].end, End::kNotInTrace);
  EXPECT_TRUE(doubtful.in_flight()[0].loss_in_span);
}

TEST(Overlaps, TakesBackTheDevicesCompletionUnlessItFailed) {
  for (const uint64_t result : {uint64_t{0}, ~uint64_t{4}}) {
    Script script;
    script.event("virtio_blk_handle_write", {0xd, 1, 0, 8}).event("virtio_blk_rw_complete", {0xd, 1, result});
    script.event("virtio_blk_handle_write", {0xd, 2, 0, 8}).event("virtio_blk_req_complete", {0xd, 2, 0});
    OverlapFinder finder(std::nullopt, std::nullopt);
    script.run_over(finder);
    EXPECT_EQ(finder.in_flight().size(), result == 0 ? 0U : 1U);
  }
}

TEST(Overlaps, FindsNoPairsWhereNoWriteEnds) {
  Script script;  // one after the other, but their ends were not recorded
  for (uint64_t request = 1; request <= 100; ++request) script.event("virtio_blk_handle_write", {0xd, request, 0, 8});
  OverlapFinder finder(std::nullopt, std::nullopt);
  script.run_over(finder);
  EXPECT_FALSE(finder.completions_seen());
  EXPECT_TRUE(finder.in_flight().empty());
  EXPECT_EQ(finder.pairs_left_out(), 0U);
  EXPECT_EQ(finder.writes(), 100U);
}

TEST(Overlaps, KeepsABoundedNumberOfPairsAndCountsTheRest) {
  constexpr uint64_t kWrites = 20'000;
  Script script;
  for (uint64_t request = 1; request <= kWrites; ++request) script.event("virtio_blk_handle_write", {0xd, request, 0, 1});
  script.event("virtio_blk_req_complete", {0xd, 0, 0});
  OverlapFinder finder(std::nullopt, std::nullopt);
  script.run_over(finder);
  constexpr uint64_t kOpen = OverlapFinder::kMaxOpen;
  EXPECT_EQ(finder.in_flight().size(), OverlapFinder::kMaxPairs);
  EXPECT_EQ(finder.not_followed(), kWrites - kOpen);
  EXPECT_EQ(finder.in_flight().size() + finder.pairs_left_out(), kOpen * (kOpen - 1) / 2 + (kWrites - kOpen) * kOpen);
}

TEST(Overlaps, KeepsABoundedNumberOfWritesInTheRange) {
  Script script;
  for (uint64_t i = 0; i < OverlapFinder::kMaxInRange + 5; ++i) script.event("blk_co_pwritev", {0xb, 0, 0, 512, 0});
  OverlapFinder finder(OverlapFinder::Range{0, 512}, std::nullopt);
  script.run_over(finder);
  EXPECT_EQ(finder.in_range().size(), OverlapFinder::kMaxInRange);
  EXPECT_EQ(finder.in_range_left_out(), 5U);
}

}  // namespace
}  // namespace qperf::qemutrace
