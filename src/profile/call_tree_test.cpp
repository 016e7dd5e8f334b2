#include "profile/call_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

#include "profile/binned_weights.h"

namespace qperf::profile {
namespace {

constexpr FrameId kA{1};
constexpr FrameId kB{2};
constexpr FrameId kC{3};
constexpr FrameId kRest{99};

TEST(CallTree, StacksThatBeginAlikeShareNodes) {
  CallTree tree;
  const NodeId ab = tree.node_of(std::array{kA, kB});
  const NodeId ac = tree.node_of(std::array{kA, kC});
  EXPECT_EQ(tree.node_of({}), NodeId{});
  EXPECT_EQ(tree.node_of(std::array{kA, kB}), ab);
  EXPECT_EQ(tree.nodes()[ab.raw].parent, tree.nodes()[ac.raw].parent);
  EXPECT_EQ(tree.size(), 4U);
  EXPECT_EQ(tree.totals(std::vector<uint64_t>{0, 1, 10, 100}), (std::vector<uint64_t>{111, 111, 10, 100}));
}

TEST(CallTree, PruningKeepsTheHeaviestAndEverySum) {
  CallTree tree;
  std::mt19937_64 random(1);
  std::vector<uint64_t> self(1);
  for (int i = 0; i < 2000; ++i) {
    std::vector<FrameId> stack;
    for (size_t depth = 1 + random() % 8; depth > 0; --depth) stack.push_back(FrameId{static_cast<uint32_t>(random() % 5)});
    const NodeId node = tree.node_of(stack);
    self.resize(tree.size());
    self[node.raw] += random() % 1000;
  }
  const auto totals = tree.totals(self);
  const PrunedTree pruned = prune(tree, totals, 300, kRest);
  std::vector<uint64_t> now(pruned.tree.size());
  for (size_t i = 0; i < self.size(); ++i) now[pruned.now[i].raw] += self[i];
  const auto now_totals = pruned.tree.totals(now);
  EXPECT_EQ(now_totals[0], totals[0]);
  size_t kept = 0;
  for (uint32_t i = 0; i < tree.size(); ++i) {
    const NodeId to = pruned.now[i];
    if (i == 0 || pruned.tree.nodes()[to.raw].frame == kRest) continue;
    ++kept;
    EXPECT_EQ(now_totals[to.raw], totals[i]);
  }
  EXPECT_LE(kept, 300U);
  EXPECT_GT(kept, 250U);
  EXPECT_EQ(kept + pruned.cut + 1, tree.size());
}

TEST(CallTree, ATreeThatFitsStaysAsItIs) {
  CallTree tree;
  tree.node_of(std::array{kA, kB});
  const PrunedTree pruned = prune(tree, std::vector<uint64_t>{0, 0, 0}, 3, kRest);
  EXPECT_EQ(pruned.tree.size(), 3U);
  EXPECT_EQ(pruned.cut, 0U);
}

BinnedWeights as_is(const BinnedWeights& bins) {
  return bins.sorted([](StackId stack) { return std::pair(stack, 0U); });
}

uint64_t sum(const BinnedWeights& bins) {
  return std::accumulate(bins.rows().begin(), bins.rows().end(), uint64_t{0}, [](uint64_t total, const auto& row) { return total + row.weight; });
}

TEST(BinnedWeights, AddsUpWhatIsInOneCell) {
  BinnedWeights bins(uint64_t{1} << 31);  // 2048 bins of 2^20 ns
  bins.add(5, VcpuIndex{0}, StackId{1}, 2);
  bins.add(6, VcpuIndex{0}, StackId{1}, 3);
  bins.add(6, VcpuIndex{1}, StackId{1}, 7);
  bins.add(uint64_t{1} << 25, VcpuIndex{0}, StackId{1}, 1);
  bins.add(7, VcpuIndex{0}, StackId{1}, 4);  // late: its cell is no longer at hand
  const BinnedWeights sorted = as_is(bins);
  ASSERT_EQ(sorted.rows().size(), 3U);
  EXPECT_EQ(sorted.rows()[0].weight, 9U);
  EXPECT_EQ(sorted.rows()[1].weight, 7U);
  EXPECT_EQ(sorted.rows()[2].bin * sorted.bin_ns(), uint64_t{1} << 25);
}

TEST(BinnedWeights, StaysBoundedAndLosesNoWeight) {
  BinnedWeights bins(0, 1000);  // the end is not known
  std::mt19937_64 random(2);
  uint64_t total = 0;
  for (uint64_t i = 0; i < 50000; ++i) {
    const uint64_t weight = random() % 10;
    bins.add(i * 100000, VcpuIndex{static_cast<uint32_t>(i % 2)}, StackId{static_cast<uint32_t>(random() % 40)}, weight);
    total += weight;
    ASSERT_LE(bins.rows().size(), 1000U);
  }
  BinnedWeights sorted = as_is(bins);
  EXPECT_EQ(sum(sorted), total);
  sorted.fit(100);
  EXPECT_LE(sorted.rows().size(), 100U);
  EXPECT_EQ(sum(sorted), total);
  bins.add(~uint64_t{0}, VcpuIndex{0}, StackId{0}, 1);
  EXPECT_LE(as_is(bins).rows().back().bin, BinnedWeights::kBins);
  EXPECT_EQ(sum(as_is(bins)), total + 1);
}

}  // namespace
}  // namespace qperf::profile
