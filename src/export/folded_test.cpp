#include "export/folded.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

namespace qperf::exporter {
namespace {

using profile::FrameId;
using profile::NamedStacks;
using profile::StackId;

class Names {
 public:
  StackId stack(const std::vector<std::string>& root_first) {
    std::vector<FrameId> frames;
    for (const auto& name : root_first) frames.push_back(names.frames.intern({.name = name, .file = "", .line = 0}));
    return names.stacks.intern(frames);
  }
  std::string folded(const std::vector<FoldedRow>& rows, FoldedCounts counts = FoldedCounts::kOne) const {
    StringSink sink;
    write_folded(names, rows, counts, sink);
    return sink.text();
  }
  NamedStacks names;
};

TEST(FoldedFrame, KeepsTheSeparatorAndTheLineToItself) {
  EXPECT_EQ(folded_frame("core::array<[u8; 16]>"), "core::array<[u8: 16]>");
  EXPECT_EQ(folded_frame("a\nb\tc\rd"), "a\\x0ab\\x09c\\x0dd");
  EXPECT_EQ(folded_frame("  f g  "), "f g");
  EXPECT_EQ(folded_frame(""), "[unknown]");
  EXPECT_EQ(folded_frame("   "), "[unknown]");
}

TEST(FoldedLeaf, DoesNotEndInABareNumber) {
  EXPECT_EQ(folded_leaf("worker 3"), "worker 3_");
  EXPECT_EQ(folded_leaf("worker 3."), "worker 3._");
  EXPECT_EQ(folded_leaf("worker 3.14"), "worker 3.14_");
  EXPECT_EQ(folded_leaf("worker 3a"), "worker 3a");
  EXPECT_EQ(folded_leaf("worker 3.1.4"), "worker 3.1.4");
  EXPECT_EQ(folded_leaf("worker3"), "worker3");
  EXPECT_EQ(folded_leaf("3"), "3");
  EXPECT_EQ(folded_leaf("[module] 0xffffffff02001230"), "[module] 0xffffffff02001230");
}

TEST(WriteFolded, MergesEqualTextAndSortsByTheBytesOfTheStack) {
  Names n;
  n.names.frames.intern({.name = "f", .file = "one.c", .line = 0});
  const StackId in_one = n.stack({"root", "f"});
  std::vector<FrameId> other{n.names.frames.intern({.name = "root", .file = "", .line = 0}),
                             n.names.frames.intern({.name = "f", .file = "two.c", .line = 0})};
  const StackId in_two = n.names.stacks.intern(other);
  const StackId shorter = n.stack({"root"});
  const StackId spaced = n.stack({"root x"});
  EXPECT_EQ(n.folded({{.root = {}, .stack = in_one, .count = 3},
                      {.root = {}, .stack = spaced, .count = 1},
                      {.root = {}, .stack = in_two, .count = 4},
                      {.root = {}, .stack = shorter, .count = 5}}),
            "root 5\nroot x 1\nroot;f 7\n");
}

TEST(WriteFolded, PutsARootAboveAndLeavesOutZeros) {
  Names n;
  const StackId stack = n.stack({"a", "b 1"});
  const StackId empty = n.stack({});
  const FrameId root = n.names.frames.intern({.name = "cpu 0", .file = "", .line = 0});
  EXPECT_EQ(n.folded({{.root = root, .stack = stack, .count = 2},
                      {.root = {}, .stack = stack, .count = 0},
                      {.root = {}, .stack = empty, .count = 1},
                      {.root = root, .stack = empty, .count = 1}}),
            "[unknown] 1\ncpu 0;a;b 1_ 2\ncpu 0_ 1\n");
}

TEST(WriteFolded, TwoCountsKeepAMissingSideAsZero) {
  Names n;
  const StackId gone = n.stack({"a"});
  const StackId fresh = n.stack({"b"});
  EXPECT_EQ(n.folded({{.root = {}, .stack = gone, .count = 2, .count2 = 0},
                      {.root = {}, .stack = fresh, .count = 0, .count2 = 3},
                      {.root = {}, .stack = fresh, .count = 0, .count2 = 0}},
                     FoldedCounts::kTwo),
            "a 2 0\nb 0 3\n");
}

/// What flamegraph.pl does to a line: the shortest head before blanks and a number at the end; then once more on the head.
TEST(WriteFolded, FlamegraphPlReadsBackWhatWasWritten) {
  const std::regex line_pattern(R"(^(.*?)\s+(\d+(?:\.\d*)?)$)");
  const std::vector<std::string> pieces{"f", "worker 3", "x 1.", " ", "a;b", "[u8; 4]", "\xff\xfe", "9", "t\t7", "é 12", "# c"};
  std::mt19937 random(7);
  Names n;
  std::vector<FoldedRow> rows;
  uint64_t total = 0;
  for (int i = 0; i < 2000; ++i) {
    std::vector<std::string> frames;
    for (size_t k = random() % 4 + 1; k > 0; --k) {
      std::string name = pieces[random() % pieces.size()];
      if (random() % 2 == 0) name += pieces[random() % pieces.size()];
      frames.push_back(std::move(name));
    }
    const uint64_t count = random() % 100;
    rows.push_back({.root = {}, .stack = n.stack(frames), .count = count});
    total += count;
  }
  std::istringstream in(n.folded(rows));
  std::string line;
  std::string previous;
  uint64_t read_back = 0;
  while (std::getline(in, line)) {
    std::smatch match;
    ASSERT_TRUE(std::regex_match(line, match, line_pattern)) << line;
    const std::string stack = match[1];
    std::smatch second;
    EXPECT_FALSE(std::regex_match(stack, second, line_pattern)) << line;
    EXPECT_LT(previous, stack);
    EXPECT_EQ(stack.find(";;"), std::string::npos);
    previous = stack;
    read_back += std::stoull(match[2]);
  }
  EXPECT_EQ(read_back, total);
}

}  // namespace
}  // namespace qperf::exporter
