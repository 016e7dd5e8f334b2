#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <set>
#include <string>

#include "report/call_tree.h"
#include "report/costs.h"
#include "report/neighbours.h"
#include "report/selection.h"

namespace qperf::report {
namespace {

using profile::FrameId;

/// Stacks written as folded text: "a;b;c".
class Stacks {
 public:
  void add(std::string_view folded, uint64_t weight, uint32_t group = 0) {
    std::vector<FrameId> frames;
    while (!folded.empty()) {
      const size_t end = std::min(folded.find(';'), folded.size());
      frames.push_back(names.frames.intern({.name = std::string(folded.substr(0, end)), .file = "", .line = 0}));
      folded.remove_prefix(std::min(end + 1, folded.size()));
    }
    rows.push_back({group, names.stacks.intern(frames), weight});
  }

  [[nodiscard]] std::map<std::string, std::pair<uint64_t, uint64_t>> functions(std::span<const Row> of) const {
    const FrameKeys keys = keys_by_function(names.frames);
    std::map<std::string, std::pair<uint64_t, uint64_t>> result;
    for (const Cost& cost : costs_by(keys, of, names)) result[keys.names[cost.key]] = {cost.self, cost.total};
    return result;
  }

  profile::NamedStacks names;
  std::vector<Row> rows;
};

Pattern pattern(std::string_view text) { return *Pattern::parse(text); }

std::string drawn(const CallTree& tree, const profile::FrameTable& frames, uint64_t least) {
  std::string text;
  for (const auto& line : tree.drawing(frames, least)) {
    text += std::string(line.depth, ' ');
    if (line.hidden_nodes != 0)
      text += "+" + std::to_string(line.hidden_nodes) + " " + std::to_string(line.hidden_weight) + "\n";
    else
      text += frames[tree[line.node].frame].name + " " + std::to_string(tree[line.node].self) + "/" +
              std::to_string(tree[line.node].total) + "\n";
  }
  return text;
}

TEST(Costs, CountRecursionOnce) {
  Stacks stacks;
  stacks.add("main;f;g;f", 3);
  stacks.add("main;f", 2);
  stacks.add("main;g;g;g", 4);
  const auto functions = stacks.functions(stacks.rows);
  EXPECT_EQ(functions.at("main"), std::pair(uint64_t{0}, uint64_t{9}));
  EXPECT_EQ(functions.at("f"), std::pair(uint64_t{5}, uint64_t{5}));
  EXPECT_EQ(functions.at("g"), std::pair(uint64_t{4}, uint64_t{7}));
}

TEST(Costs, OfEachGroupLookAtItsKeysOnly) {
  Stacks stacks;
  for (uint32_t group = 0; group < 1000; ++group) stacks.add("main;f" + std::to_string(group), group + 1, group);
  const FrameKeys keys = keys_by_function(stacks.names.frames);
  CostSums sums(keys, stacks.names);
  for (const Row& row : stacks.rows) {
    const auto costs = sums.of(std::span(&row, 1));
    ASSERT_EQ(costs.size(), 2U);
    EXPECT_EQ(keys.names[costs[0].key], "main");
    EXPECT_EQ(costs[0].self, 0U);
    EXPECT_EQ(costs[0].total, row.weight);
    EXPECT_EQ(costs[1].self, row.weight) << "nothing is left of the groups before";
    EXPECT_EQ(costs[1].total, row.weight);
  }
  EXPECT_EQ(sums.looked_at(), 2'000U);
}

TEST(Costs, TellFunctionsOfOneNameApartByFile) {
  profile::NamedStacks names;
  const FrameId a = names.frames.intern({.name = "init", .file = "a.c", .line = 1});
  const FrameId b = names.frames.intern({.name = "init", .file = "b.c", .line = 2});
  names.frames.intern({.name = "only", .file = "b.c", .line = 2});
  const FrameKeys keys = keys_by_function(names.frames);
  EXPECT_EQ(keys.names[keys.of_frame[a.raw]], "init (a.c)");
  EXPECT_EQ(keys.names[keys.of_frame[b.raw]], "init (b.c)");
  EXPECT_EQ(keys.names.back(), "only");
  EXPECT_EQ(keys_by_file(names.frames).names, (std::vector<std::string>{"a.c", "b.c"}));
}

TEST(Costs, OfGroupsAddUp) {
  Stacks stacks;
  stacks.add("a;b", 3, 1);
  stacks.add("a;c", 2, 0);
  stacks.add("a;b", 4, 1);
  stacks.add("a;d", 0, 7);
  const auto groups = weights_by_group(stacks.rows);
  ASSERT_EQ(groups.size(), 2U);
  EXPECT_EQ(groups[0].weight, 2U);
  EXPECT_EQ(groups[1].group, 1U);
  EXPECT_EQ(groups[1].weight, 7U);
}

TEST(Selection, KeepsWhatIsFocusedAndHides) {
  Stacks stacks;
  stacks.add("main;read;lock", 5);
  stacks.add("main;write;lock", 3);
  stacks.add("main;read;copy", 2);
  stacks.add("lock", 1);
  Selection selection;
  selection.focus.push_back(pattern("read|^lock"));
  selection.ignore.push_back(pattern("write"));
  selection.hide.push_back(pattern("lock"));
  const Selected selected = select(selection, stacks.rows, stacks.names);
  EXPECT_EQ(selected.weight, 8U);
  EXPECT_EQ(selected.left_out, 3U);
  const auto functions = stacks.functions(selected.rows);
  EXPECT_EQ(functions.at("read"), std::pair(uint64_t{5}, uint64_t{7}));
  EXPECT_EQ(functions.at("[hidden]").first, 1U);
  EXPECT_FALSE(functions.contains("lock"));
}

TEST(CallTree, DrawsTheHeaviestFirstAndSaysWhatIsLeftOut) {
  Stacks stacks;
  stacks.add("a;b;c", 6);
  stacks.add("a;b", 1);
  stacks.add("a;d", 2);
  stacks.add("a;e", 1);
  stacks.add("z", 10);
  CallTree tree;
  for (const Row& row : stacks.rows) tree.add(stacks.names.stacks[row.stack], row.weight);
  EXPECT_EQ(drawn(tree, stacks.names.frames, 0), "a 0/10\n b 1/7\n  c 6/6\n d 2/2\n e 1/1\nz 10/10\n");
  EXPECT_EQ(drawn(tree, stacks.names.frames, 5), "a 0/10\n b 1/7\n  c 6/6\n +2 3\nz 10/10\n");
}

TEST(Neighbours, StartAtTheOutermostCall) {
  Stacks stacks;
  stacks.add("main;x;f;g;f;h", 3);
  stacks.add("main;y;f", 4);
  stacks.add("main;y", 9);
  const auto function = frames_called("f", stacks.names.frames);
  ASSERT_TRUE(function);
  EXPECT_EQ(drawn(neighbours(*function, Side::kCallers, stacks.rows, stacks.names), stacks.names.frames, 0),
            "f 0/7\n y 0/4\n  main 4/4\n x 0/3\n  main 3/3\n");
  EXPECT_EQ(drawn(neighbours(*function, Side::kCallees, stacks.rows, stacks.names), stacks.names.frames, 0),
            "f 4/7\n g 0/3\n  f 0/3\n   h 3/3\n");
  const auto none = frames_called("ai", stacks.names.frames);
  ASSERT_FALSE(none);
  EXPECT_NE(none.error().message.find("'main'"), std::string::npos);
}

// A slow model of the same sums, on random stacks with much recursion.
TEST(Report, ConservesEveryWeight) {
  std::mt19937 random(3);
  for (int round = 0; round < 50; ++round) {
    Stacks stacks;
    uint64_t sum = 0;
    std::map<std::string, std::pair<uint64_t, uint64_t>> model;
    for (int i = 0; i < 60; ++i) {
      const uint64_t weight = random() % 100;
      std::vector<std::string> frames;
      for (auto n = 1 + random() % 8; n > 0; --n) frames.push_back(std::string(1, static_cast<char>('a' + random() % 5)));
      std::string folded;
      for (const auto& frame : frames) folded += (folded.empty() ? "" : ";") + frame;
      stacks.add(folded, weight, static_cast<uint32_t>(random() % 3));
      sum += weight;
      model[frames.back()].first += weight;
      for (const auto& frame : std::set<std::string>(frames.begin(), frames.end())) model[frame].second += weight;
    }
    EXPECT_EQ(stacks.functions(stacks.rows), model);
    CallTree tree;
    for (const Row& row : stacks.rows) tree.add(stacks.names.stacks[row.stack], row.weight);
    EXPECT_EQ(tree[CallTree::kRoot].total, sum);
    // Each node is its self weight and the lines one deeper, whatever the limit leaves out.
    const auto lines = tree.drawing(stacks.names.frames, 40);
    std::vector<uint64_t> below(lines.size() + 1, 0);
    uint64_t first_level = 0;
    for (size_t i = 0; i < lines.size(); ++i) {
      const uint64_t weight = lines[i].hidden_nodes != 0 ? lines[i].hidden_weight : tree[lines[i].node].total;
      if (lines[i].depth == 0) first_level += weight;
      if (lines[i].hidden_nodes != 0) continue;
      uint64_t children = tree[lines[i].node].self;
      for (size_t j = i + 1; j < lines.size() && lines[j].depth > lines[i].depth; ++j) {
        if (lines[j].depth != lines[i].depth + 1) continue;
        children += lines[j].hidden_nodes != 0 ? lines[j].hidden_weight : tree[lines[j].node].total;
      }
      EXPECT_EQ(children, tree[lines[i].node].total);
    }
    EXPECT_EQ(first_level, sum);
  }
}

}  // namespace
}  // namespace qperf::report
