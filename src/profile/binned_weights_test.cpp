#include "profile/binned_weights.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <numeric>
#include <random>
#include <tuple>
#include <vector>

#include "profile/bin_collector.h"

namespace qperf::profile {
namespace {

/// The pair's lowest bit is its vCPU, the rest its stack.
BinnedWeights binned(const BinCollector& collector) {
  return collector.binned([](uint32_t pair) { return BinCollector::Cell{.vcpu = VcpuIndex{pair % 2}, .group = 0, .stack = StackId{pair / 2}}; });
}

uint64_t sum(const BinnedWeights& bins) {
  return std::accumulate(bins.rows().begin(), bins.rows().end(), uint64_t{0}, [](uint64_t total, const auto& row) { return total + row.weight; });
}

TEST(BinCollector, AddsUpWhatIsInOneCell) {
  BinCollector collector(uint64_t{1} << 31);  // 2048 bins of 2^20 ns
  collector.add(5, 2, 2);
  collector.add(6, 2, 3);
  collector.add(6, 3, 7);
  collector.add(uint64_t{1} << 25, 2, 1);
  collector.add(7, 2, 4);  // late: its cell is no longer at hand
  const BinnedWeights bins = binned(collector);
  ASSERT_EQ(bins.rows().size(), 3U);
  EXPECT_EQ(bins.rows()[0].weight, 9U);
  EXPECT_EQ(bins.rows()[1].weight, 7U);
  EXPECT_EQ(bins.rows()[1].vcpu, VcpuIndex{1});
  EXPECT_EQ(bins.rows()[2].bin * bins.bin_ns(), uint64_t{1} << 25);
}

/// Times at random too: whoever reads a damaged capture has no order to rely on.
TEST(BinCollector, StaysBoundedAndLosesNoWeight) {
  for (const bool in_order : {true, false}) {
    BinCollector collector(0, 1000);  // the end is not known
    std::mt19937_64 random(2);
    uint64_t total = 0;
    for (uint64_t i = 0; i < 50000; ++i) {
      const uint64_t weight = random() % 10;
      collector.add((in_order ? i : random() % 50000) * 100000, static_cast<uint32_t>(random() % 80), weight);
      total += weight;
      ASSERT_LE(collector.sums(), 1000U);
    }
    BinnedWeights bins = binned(collector);
    EXPECT_EQ(sum(bins), total);
    bins.fit(100);
    EXPECT_LE(bins.rows().size(), 100U);
    EXPECT_EQ(sum(bins), total);
    collector.add(~uint64_t{0}, 0, 1);
    EXPECT_LE(binned(collector).rows().back().bin, BinnedWeights::kBins);
    EXPECT_EQ(sum(binned(collector)), total + 1);
  }
}

/// Two bins of the longest kind hold all of time, so that bins cannot help where samples go back and forth between them.
TEST(BinCollector, StaysBoundedWhateverTimesAFileMakesUp) {
  BinCollector collector(0, 1000);
  for (uint64_t i = 0; i < 20000; ++i) {
    collector.add(i % 2 == 0 ? 0 : ~uint64_t{0}, static_cast<uint32_t>(i / 2 % 10), 1);
    ASSERT_LE(collector.sums(), 1000U);
  }
  EXPECT_EQ(sum(binned(collector)), 20000U);
}

/// Longer bins of sorted rows are what sorting the same rows in longer bins gives.
TEST(BinCollector, MorePairsThanSumsMakeNoBinLongerThanTheCapture) {
  BinCollector collector(0, 16);
  constexpr WallNs kEndNs = WallNs{1} << 20;
  for (uint32_t pair = 0; pair < 1024; ++pair) collector.add(kEndNs / 1024 * pair, pair, 1);
  const BinnedWeights sums = collector.binned([](uint32_t pair) { return BinCollector::Cell{.vcpu = {}, .group = 0, .stack = StackId{pair}}; });
  EXPECT_EQ(sums.rows().size(), 1024U);
  EXPECT_LE(sums.bin_ns(), kEndNs);
}

TEST(BinnedWeights, LongerBinsAreThoseOfTheSameSamples) {
  std::mt19937_64 random(3);
  std::vector<BinnedWeights::Row> rows;
  for (int i = 0; i < 5000; ++i)
    rows.push_back({.bin = static_cast<uint32_t>(random() % 64), .vcpu = VcpuIndex{static_cast<uint32_t>(random() % 3)},
                    .group = static_cast<uint32_t>(random() % 2), .stack = StackId{static_cast<uint32_t>(random() % 5)}, .weight = random() % 9});
  for (const uint32_t shift : {1U, 2U, 5U}) {
    BinnedWeights halved(10, rows);
    auto longer = rows;
    for (auto& row : longer) row.bin >>= shift;
    const BinnedWeights expected(10 + shift, longer);
    for (size_t most = halved.rows().size(); halved.bin_ns() < expected.bin_ns(); --most) halved.fit(most);
    ASSERT_EQ(halved.rows().size(), expected.rows().size());
    for (size_t i = 0; i < halved.rows().size(); ++i) {
      const auto& a = halved.rows()[i];
      const auto& b = expected.rows()[i];
      ASSERT_EQ(std::tie(a.bin, a.vcpu, a.group, a.stack, a.weight), std::tie(b.bin, b.vcpu, b.group, b.stack, b.weight));
    }
  }
}

}  // namespace
}  // namespace qperf::profile
