#include "profile/call_tree.h"

#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <random>

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

}  // namespace
}  // namespace qperf::profile
