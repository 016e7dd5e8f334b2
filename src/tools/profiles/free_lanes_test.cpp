#include "tools/profiles/free_lanes.h"

#include <gtest/gtest.h>

namespace qperf::tools {
namespace {

TEST(FreeLanes, TakesTheFirstThatIsFree) {
  FreeLanes<uint64_t> lanes;
  EXPECT_EQ(lanes.take(0, 30), 0U);
  EXPECT_EQ(lanes.take(1, 10), 1U);
  EXPECT_EQ(lanes.take(2, 5), 2U);
  EXPECT_FALSE(lanes.has_room(4, 3));
  EXPECT_TRUE(lanes.has_room(4, 4));
  EXPECT_TRUE(lanes.has_room(5, 3));
  EXPECT_EQ(lanes.take(12, 13), 1U);  // 1 and 2 are free
  EXPECT_EQ(lanes.take(12, 40), 2U);
  EXPECT_EQ(lanes.take(13, 13), 1U);
  EXPECT_EQ(lanes.take(13, 50), 1U);  // a span of no length takes no time
  EXPECT_EQ(lanes.take(14, 15), 3U);
  EXPECT_EQ(lanes.take(30, 31), 0U);
}

// A search among the busy lanes would compare 10^12 times.
TEST(FreeLanes, HoldsAMillionOverlappingSpans) {
  FreeLanes<uint64_t> lanes;
  constexpr uint32_t kSpans = 1'000'000;
  for (uint32_t i = 0; i < kSpans; ++i) ASSERT_EQ(lanes.take(i, ~uint64_t{0}), i);
  EXPECT_FALSE(lanes.has_room(kSpans, kSpans));
}

}  // namespace
}  // namespace qperf::tools
