#include "report/annotation.h"

#include <gtest/gtest.h>

namespace qperf::report {
namespace {

using profile::FrameId;
using profile::LocationId;

constexpr FrameId kMain{0};
constexpr FrameId kWork{1};
constexpr FrameId kInlined{2};

/// Three places: in work with an inlined function, in work alone, and in main.
profile::LocatedProfile located() {
  profile::LocatedProfile profile;
  const std::vector<profile::SourceLine> inlined{{kInlined, 7}, {kWork, 11}};
  const std::vector<profile::SourceLine> plain{{kWork, 12}};
  const std::vector<profile::SourceLine> outer{{kMain, 30}};
  profile.locations.add({0, GuestVa{0x100}}, inlined);
  profile.locations.add({0, GuestVa{0x110}}, plain);
  profile.locations.add({0, GuestVa{0x200}}, outer);
  const auto add = [&](std::vector<uint32_t> locations, uint64_t weight) {
    std::vector<LocationId> stack;
    for (const uint32_t location : locations) stack.push_back(LocationId{location});
    profile.rows.push_back({VcpuIndex{0}, profile::LocatedRow::kNoRoot, profile.stacks.intern(stack), weight, weight});
  };
  add({0, 2}, 5);        // leaf in the inlined function
  add({1, 2}, 3);        // leaf in work
  add({1, 1, 0, 2}, 2);  // recursion
  add({2}, 4);
  return profile;
}

const LineCost* line(const Annotation& annotation, FrameId frame, uint32_t number) {
  for (const LineCost& cost : annotation.lines)
    if (cost.frame == frame && cost.line == number) return &cost;
  return nullptr;
}

TEST(Annotation, CountsEachLineOncePerStack) {
  const auto annotation = annotate(std::vector{kWork}, located(), Depth::kWhole);
  EXPECT_EQ(annotation.whole, 14U);
  EXPECT_EQ(annotation.total, 10U);
  EXPECT_EQ(annotation.self, 5U);
  ASSERT_EQ(annotation.lines.size(), 2U);
  EXPECT_EQ(line(annotation, kWork, 11)->self, 0U);
  EXPECT_EQ(line(annotation, kWork, 11)->total, 7U);
  EXPECT_EQ(line(annotation, kWork, 12)->self, 5U);
  EXPECT_EQ(line(annotation, kWork, 12)->total, 5U);
  ASSERT_EQ(annotation.addresses.size(), 1U);
  EXPECT_EQ(annotation.addresses[0].address, GuestVa{0x110});
  EXPECT_EQ(annotation.addresses[0].self, 5U);
}

TEST(Annotation, KnowsInlinedFunctions) {
  const auto annotation = annotate(std::vector{kInlined}, located(), Depth::kWhole);
  EXPECT_EQ(annotation.self, 5U);
  EXPECT_EQ(annotation.total, 7U);
  EXPECT_EQ(annotation.addresses[0].address, GuestVa{0x100});
}

TEST(Annotation, OfExactCountsIsTheLeafAlone) {
  const auto annotation = annotate(std::vector{kWork}, located(), Depth::kLeafOnly);
  EXPECT_EQ(line(annotation, kWork, 11), nullptr);
  EXPECT_EQ(annotation.self, 5U);
}

}  // namespace
}  // namespace qperf::report
