#include "analysis/row_index.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace qperf::analysis {
namespace {

TEST(RowIndex, FindsWhatAMapFinds) {
  RowIndex index;
  std::map<RowKey, uint32_t> expected;
  std::mt19937_64 random(11);
  for (uint32_t i = 0; i < 60000; ++i) {
    // Few values of each, so that keys recur and neighbours abound; large ones too.
    const RowKey key{.vcpu = static_cast<uint32_t>(random() % 3),
                     .era = static_cast<uint32_t>(random() % 2),
                     .root = random() % 8 == 0 ? 0xffffffff : static_cast<uint32_t>(random() % 40),
                     .site = static_cast<uint32_t>(random() % 100)};
    const auto found = index.find(key, key.hash());
    const auto known = expected.find(key);
    ASSERT_EQ(found.has_value(), known != expected.end());
    if (found) {
      ASSERT_EQ(*found, known->second);
      continue;
    }
    const auto row = static_cast<uint32_t>(expected.size());
    index.insert(key, key.hash(), row);
    expected.emplace(key, row);
  }
  EXPECT_GT(expected.size(), 10000U);
}

}  // namespace
}  // namespace qperf::analysis
