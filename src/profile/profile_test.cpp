#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <random>
#include <vector>

#include "profile/difference.h"
#include "profile/filter.h"
#include "profile/frame_table.h"
#include "profile/sequence_table.h"
#include "profile/timeline.h"
#include "profile/weights.h"

namespace qperf::profile {
namespace {

TEST(SequenceTable, EqualSequencesShareAnIdThroughManyGrowths) {
  SequenceTable<uint64_t> table;
  std::mt19937_64 random(1);
  std::vector<std::vector<uint64_t>> sequences;
  for (size_t i = 0; i < 20000; ++i) {
    std::vector<uint64_t> words{i};
    for (size_t k = random() % 5; k > 0; --k) words.push_back(random());
    EXPECT_EQ(table.intern(words).raw, i);
    sequences.push_back(std::move(words));
  }
  EXPECT_EQ(table.size(), sequences.size());
  for (uint32_t i = 0; i < sequences.size(); ++i) {
    EXPECT_EQ(table.intern(sequences[i]).raw, i);
    const auto words = table[StackId{i}];
    EXPECT_TRUE(std::equal(words.begin(), words.end(), sequences[i].begin(), sequences[i].end()));
  }
}

TEST(SequenceTable, ABatchGetsTheIdsThatOneByOneGives) {
  std::mt19937_64 random(2);
  std::vector<std::vector<uint64_t>> sequences(3000);
  for (auto& words : sequences)
    for (size_t k = random() % 40; k > 0; --k) words.push_back(random() % 2);
  SequenceTable<uint64_t> single;
  SequenceTable<uint64_t> batched;
  for (size_t begin = 0; begin < sequences.size();) {
    const size_t size = std::min(1 + random() % batched.kBatch, sequences.size() - begin);
    std::vector<std::span<const uint64_t>> batch(sequences.begin() + static_cast<std::ptrdiff_t>(begin),
                                                 sequences.begin() + static_cast<std::ptrdiff_t>(begin + size));
    std::vector<StackId> ids(size);
    batched.intern_batch(batch, ids);
    for (size_t i = 0; i < size; ++i) ASSERT_EQ(ids[i], single.intern(batch[i]));
    begin += size;
  }
  EXPECT_EQ(batched.size(), single.size());
}

TEST(SequenceTable, TheEmptySequenceAndPrefixesDiffer) {
  SequenceTable<uint32_t> table;
  const StackId empty = table.intern({});
  const StackId one = table.intern(std::array{1U});
  const StackId two = table.intern(std::array{1U, 2U});
  EXPECT_NE(empty, one);
  EXPECT_NE(one, two);
  EXPECT_EQ(table.intern({}), empty);
  EXPECT_TRUE(table[empty].empty());
}

TEST(FrameTable, FramesAreTheSameByNameAndFile) {
  FrameTable table;
  const FrameId first = table.intern({.name = "f", .file = "a.c", .line = 3});
  EXPECT_EQ(table.intern({.name = "f", .file = "a.c", .line = 9}), first);
  EXPECT_NE(table.intern({.name = "f", .file = "b.c", .line = 3}), first);
  EXPECT_EQ(table[first].line, 3U);
}

TEST(WeightTable, SumsStopAtTheLargestValue) {
  WeightTable table;
  const size_t row = table.row_of(VcpuIndex{1}, StackId{2});
  table[row].add(~uint64_t{0} - 1, 1);
  table[row].add(5, 1);
  EXPECT_EQ(table.row_of(VcpuIndex{1}, StackId{2}), row);
  EXPECT_EQ(table.rows()[0].weight, ~uint64_t{0});
  EXPECT_EQ(table.total_samples(), 2U);
  table[table.row_of(VcpuIndex{0}, StackId{2})].add(1, 1);
  EXPECT_EQ(table.vcpus(), (std::vector{VcpuIndex{0}, VcpuIndex{1}}));
}

TEST(Difference, AMissingSideIsZeroAndVcpusCanBeKeptApart) {
  WeightTable before;
  WeightTable after;
  before[before.row_of(VcpuIndex{0}, StackId{1})].add(10, 1);
  before[before.row_of(VcpuIndex{1}, StackId{1})].add(5, 1);
  after[after.row_of(VcpuIndex{1}, StackId{0})].add(7, 1);
  after[after.row_of(VcpuIndex{0}, StackId{1})].add(1, 1);
  const auto together = difference(before, after, ByVcpu::kTogether);
  ASSERT_EQ(together.size(), 2U);
  EXPECT_EQ(together[0].before, 0U);
  EXPECT_EQ(together[0].after, 7U);
  EXPECT_EQ(together[1].before, 15U);
  EXPECT_EQ(together[1].after, 1U);
  EXPECT_EQ(difference(before, after, ByVcpu::kApart).size(), 3U);
}

TEST(VcpuSet, ReadsNumbersAndRanges) {
  const auto set = VcpuSet::parse("0,2-3,3-5");
  ASSERT_TRUE(set.ok());
  EXPECT_TRUE(set->contains(VcpuIndex{0}));
  EXPECT_FALSE(set->contains(VcpuIndex{1}));
  EXPECT_TRUE(set->contains(VcpuIndex{5}));
  EXPECT_FALSE(set->contains(VcpuIndex{6}));
  EXPECT_FALSE(set->all());
  EXPECT_TRUE(VcpuSet{}.contains(VcpuIndex{77}));
}

TEST(VcpuSet, RefusesWhatIsNoList) {
  for (const char* text : {"", ",", "0,", "a", "-1", "1-", "3-2", "0 ,1", "4096", "99999999999", "0x1", "1-2-3"})
    EXPECT_FALSE(VcpuSet::parse(text).ok()) << text;
}

TEST(Window, IsHalfOpen) {
  const Window window{.domain = Domain::kInsns, .from = 10, .until = 20};
  EXPECT_FALSE(window.contains(15, 9));
  EXPECT_TRUE(window.contains(0, 10));
  EXPECT_TRUE(window.contains(0, 19));
  EXPECT_FALSE(window.contains(15, 20));
}

TEST(Timeline, JoinsNeighboursPerVcpuAndOrdersByTime) {
  Timeline timeline;
  timeline.add(10, VcpuIndex{0}, StackId{1}, 1);
  timeline.add(30, VcpuIndex{0}, StackId{1}, 2);
  timeline.add(5, VcpuIndex{1}, StackId{2}, 4);
  timeline.add(40, VcpuIndex{0}, StackId{2}, 8);
  ASSERT_EQ(timeline.runs().size(), 3U);
  const auto all = timeline.ordered([](VcpuIndex) { return true; });
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].stack, StackId{2});
  EXPECT_EQ(all[1].weight, 3U);
  const auto renamed = timeline.renamed([](StackId) { return StackId{9}; });
  EXPECT_EQ(renamed.runs().size(), 2U);
  EXPECT_EQ(renamed.ordered([](VcpuIndex) { return true; }).front().weight, 15U);
}

TEST(Timeline, GivesUpBeyondItsBound) {
  Timeline timeline;
  for (uint32_t i = 0; i <= Timeline::kMaxRuns; ++i) timeline.add(i, VcpuIndex{0}, StackId{i}, 1);
  EXPECT_FALSE(timeline.complete());
  EXPECT_TRUE(timeline.runs().empty());
}

}  // namespace
}  // namespace qperf::profile
