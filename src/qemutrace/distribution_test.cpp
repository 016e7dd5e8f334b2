#include "qemutrace/distribution.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

namespace qperf::qemutrace {
namespace {

TEST(Distribution, IsExactWhileSmall) {
  Distribution d;
  for (const uint64_t value : {9, 1, 5, 3}) d.add(value);
  EXPECT_TRUE(d.exact());
  EXPECT_EQ(d.quantile(0), 1U);
  EXPECT_EQ(d.quantile(0.5), 3U);
  EXPECT_EQ(d.quantile(1), 9U);
  EXPECT_EQ(d.median(), 4U);
  EXPECT_EQ(d.mean(), 4.5);
}

TEST(Distribution, StaysWithinOnePercentWhenLarge) {
  Distribution d;
  std::vector<uint64_t> values;
  uint64_t random = 88172645463325252;
  for (size_t i = 0; i < 3 * Distribution::kMostExact; ++i) {
    random ^= random << 13, random ^= random >> 7, random ^= random << 17;
    values.push_back(random >> (random % 64));  // of every magnitude
    d.add(values.back());
  }
  d.add(~uint64_t{0});
  values.push_back(~uint64_t{0});
  std::sort(values.begin(), values.end());
  EXPECT_FALSE(d.exact());
  EXPECT_EQ(d.count(), values.size());
  EXPECT_EQ(d.quantile(0), values.front());
  EXPECT_EQ(d.quantile(1), values.back());
  for (const double share : {0.01, 0.25, 0.5, 0.9, 0.99, 0.9999}) {
    const auto rank = static_cast<size_t>(std::ceil(share * static_cast<double>(values.size())));
    const auto expected = static_cast<double>(values[rank - 1]);
    EXPECT_NEAR(static_cast<double>(d.quantile(share)), expected, expected / 100) << share;
  }
}

}  // namespace
}  // namespace qperf::qemutrace
