#include "unwind/frame_walk.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <utility>
#include <vector>

#include "unwind/fake_memory.h"

namespace qperf::unwind {
namespace {

using capture::StopReason;
using guest::Target;

constexpr GuestVa kSp{0xffffffd000001000};
constexpr GuestVa kText{0xffffffff80200000};

class EachTarget : public ::testing::TestWithParam<Target> {
 protected:
  void link(GuestVa fp, GuestVa saved_fp, GuestVa return_pc) {
    const auto& layout = guest::info(GetParam()).frame;
    memory.put(fp + layout.saved_fp_bytes, saved_fp.raw);
    memory.put(fp + layout.return_pc_bytes, return_pc.raw);
  }

  WalkResult walk(GuestVa fp, size_t max_frames = 16) {
    frames.assign(max_frames, GuestVa{});
    const auto result = walk_frames(limits(), kSp, fp, memory, frames);
    frames.resize(result.frames);
    return result;
  }

  WalkLimits limits() { return {GetParam(), guest::kDefaultKernelRange, uint64_t{1} << 20, &pages}; }

  /// Three frames of a task's stack, which a walk has seen; the lowest one's frame pointer.
  GuestVa known_task_stack(GuestVa lowest) {
    link(lowest, lowest + 0x40, kText + 0x50);
    link(lowest + 0x40, lowest + 0x90, kText + 0x60);
    link(lowest + 0x90, GuestVa{0}, kText + 0x70);
    frames.assign(16, GuestVa{});
    EXPECT_EQ(walk_frames(limits(), lowest - 0x20, lowest, memory, frames).frames, 3U);
    memory.reads = 0;
    return lowest;
  }

  FakeMemory memory;
  StackPages pages;
  std::vector<GuestVa> frames;
};

INSTANTIATE_TEST_SUITE_P(Targets, EachTarget,
                         ::testing::Values(Target::kRiscv64, Target::kLoongarch64, Target::kAarch64, Target::kX86_64),
                         [](const auto& tested) { return std::string(guest::info(tested.param).name); });

TEST_P(EachTarget, FollowsTheChainLeafFirstToItsZeroLink) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, kSp + 0x100, kText + 0x20);
  link(kSp + 0x100, GuestVa{0}, kText + 0x30);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kBottom);
  EXPECT_EQ(frames, (std::vector{kText + 0x10, kText + 0x20, kText + 0x30}));
  EXPECT_EQ(memory.reads, 1U) << "one page, one read";
}

TEST_P(EachTarget, AZeroReturnAddressIsTheBottomAndNoFrame) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, GuestVa{0}, GuestVa{0});
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kBottom);
  EXPECT_EQ(frames.size(), 1U);
}

TEST_P(EachTarget, CrossesPagesWithOneReadEach) {
  link(kSp + 0x20, kSp + 0x1800, kText + 0x10);
  link(kSp + 0x1800, kSp + 0x5000, kText + 0x20);
  link(kSp + 0x5000, GuestVa{0}, kText + 0x30);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kBottom);
  EXPECT_EQ(frames.size(), 3U);
  // The links of the last frame lie in two pages where they are below the frame pointer.
  EXPECT_LE(memory.reads, 4U);
}

TEST_P(EachTarget, FirstFramePointerMustLieOnTheStack) {
  for (const GuestVa fp : {GuestVa{0}, kSp - 0x10, kSp + (1 << 20), kSp + 0x24, GuestVa{0x7fff0000}, GuestVa{~uint64_t{7}}}) {
    EXPECT_EQ(walk(fp).stop, StopReason::kNoFramePointer) << std::hex << fp.raw;
    EXPECT_TRUE(frames.empty());
  }
  EXPECT_EQ(memory.reads, 0U);
}

TEST_P(EachTarget, CyclesAndDescentsEnd) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, kSp + 0x20, kText + 0x20);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kNotAscending);
  EXPECT_EQ(frames.size(), 2U);
  link(kSp + 0x20, kSp + 0x20, kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kNotAscending);
}

TEST_P(EachTarget, AUserRegisterAsLinkLeavesTheStack) {
  link(kSp + 0x20, GuestVa{0x7ffe1230}, kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kLeftStack);
  EXPECT_EQ(frames.size(), 1U);
  link(kSp + 0x20, kSp + (int64_t{1} << 36), kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kLeftStack) << "far away: no deep stack";
}

TEST_P(EachTarget, AStackDeeperThanItsBoundIsTruncated) {
  link(kSp + 0x20, kSp + (1 << 20) - 0x100, kText + 0x10);
  link(kSp + (1 << 20) - 0x100, kSp + (1 << 20) + 0x100, kText + 0x20);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kMaxStackBytes);
  EXPECT_EQ(frames.size(), 2U);
}

TEST_P(EachTarget, AnInterruptsStackGoesOnOnTheTasks) {
  for (const int64_t away : {-int64_t{0x8000}, int64_t{1} << 36}) {
    const GuestVa task = known_task_stack(kSp + away + 0x200);
    link(kSp + 0x20, kSp + 0x60, kText + 0x10);
    link(kSp + 0x60, task, kText + 0x20);
    EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kBottom);
    EXPECT_EQ(frames, (std::vector{kText + 0x10, kText + 0x20, kText + 0x50, kText + 0x60, kText + 0x70}));
  }
}

TEST_P(EachTarget, NoStackThatWasNeverWalkedIsReadFromAnother) {
  const GuestVa device = kSp + (int64_t{1} << 36);
  link(device, device + 0x40, kText + 0x50);
  link(device + 0x40, GuestVa{0}, kText + 0x60);
  link(kSp + 0x20, device, kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kLeftStack);
  EXPECT_EQ(frames.size(), 1U);
  EXPECT_EQ(memory.reads, 1U) << "whatever lies there may change when it is read";
}

TEST_P(EachTarget, AnotherStackNeedsTwoFramesThatLookRight) {
  const GuestVa task = known_task_stack(kSp - 0x8000);
  link(kSp + 0x20, task, kText + 0x10);
  const auto expect_refused = [&](const char* what) {
    EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kNotAscending) << what;
    EXPECT_EQ(frames.size(), 1U) << what;
  };
  link(task, task + 0x40, GuestVa{0x10000});
  expect_refused("no return address");
  link(task, task - 0x40, kText + 0x50);
  expect_refused("descends");
  link(task, task + (1 << 20), kText + 0x50);
  expect_refused("too far up");
  link(task, task + 0x44, kText + 0x50);
  expect_refused("unaligned");
  link(task, GuestVa{0}, kText + 0x50);
  expect_refused("one frame only");
  link(task, task + 0x40, kText + 0x50);
  link(task + 0x40, GuestVa{0}, GuestVa{0});
  expect_refused("the second has no return address");
}

TEST_P(EachTarget, AChainBetweenStacksEnds) {
  const GuestVa task = known_task_stack(kSp + (int64_t{1} << 36));
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, task, kText + 0x20);
  link(task + 0x90, kSp + 0x20, kText + 0x70);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kNotAscending);
  EXPECT_EQ(frames.size(), 5U) << "not back to where it began";
  // Ever another stack.
  std::vector<GuestVa> stacks;
  for (int64_t i = 0; i < 5; ++i) stacks.push_back(known_task_stack(kSp - 0x10000 * (i + 1)));
  link(kSp + 0x60, stacks[0], kText + 0x20);
  for (size_t i = 0; i + 1 < stacks.size(); ++i) link(stacks[i] + 0x90, stacks[i + 1], kText + 0x70);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kNotAscending);
  EXPECT_EQ(frames.size(), 2U + 3 * kMaxStackChanges);
}

TEST_P(EachTarget, UnalignedLinksEnd) {
  link(kSp + 0x20, kSp + 0x64, kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kUnaligned);
  link(kSp + 0x20, kSp + 0x61, kText + 0x10);
  EXPECT_EQ(walk(kSp + 0x20).stop, GetParam() == Target::kX86_64 ? StopReason::kInterruptFrame : StopReason::kUnaligned);
}

TEST_P(EachTarget, ARootThatIsNoReturnAddressIsDropped) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, kSp + 0x100, GuestVa{0x10000});
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kBadReturnAddress);
  EXPECT_EQ(frames.size(), 1U);
}

TEST_P(EachTarget, AnAddressInsideAnInstructionIsNoReturnAddress) {
  link(kSp + 0x20, GuestVa{0}, kText + 0x11);
  const bool any_byte_may_start_one = guest::info(GetParam()).instruction_alignment_bytes == 1;
  EXPECT_EQ(walk(kSp + 0x20).stop, any_byte_may_start_one ? StopReason::kBottom : StopReason::kBadReturnAddress);
  EXPECT_EQ(frames.size(), any_byte_may_start_one ? 1U : 0U);
}

TEST_P(EachTarget, MaxFramesTruncatesOnlyIfThereIsAnother) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, GuestVa{0}, kText + 0x20);
  EXPECT_EQ(walk(kSp + 0x20, 2).stop, StopReason::kBottom);
  EXPECT_EQ(walk(kSp + 0x20, 1).stop, StopReason::kMaxFrames);
  EXPECT_EQ(frames.size(), 1U);
}

TEST_P(EachTarget, UnreadableMemoryTruncates) {
  link(kSp + 0x20, kSp + 0x1800, kText + 0x10);
  memory.unmap_page(kSp + 0x1800);
  EXPECT_EQ(walk(kSp + 0x20).stop, StopReason::kUnreadable);
  EXPECT_EQ(frames.size(), 1U);
}

TEST_P(EachTarget, TheTopOfTheAddressSpaceDoesNotWrap) {
  const GuestVa fp{0xfffffffffffffff0};
  frames.assign(4, GuestVa{});
  const auto result = walk_frames(limits(), GuestVa{0xffffffffffffff00}, fp, memory, frames);
  EXPECT_LE(result.frames, 4U);
  EXPECT_EQ(memory.forbidden_reads, 0U);
}

TEST_P(EachTarget, AKernelRangeOfCodeAloneKeepsItsStacks) {
  link(kSp + 0x20, kSp + 0x60, kText + 0x10);
  link(kSp + 0x60, GuestVa{0}, kText + 0x2000);
  const WalkLimits code{GetParam(), {kText, kText + 0xfff}, uint64_t{1} << 20, nullptr};
  frames.assign(16, GuestVa{});
  const auto result = walk_frames(code, kSp, kSp + 0x20, memory, frames);
  EXPECT_EQ(result.stop, StopReason::kBadReturnAddress) << "code outside the range is no kernel's";
  ASSERT_EQ(result.frames, 1U);
  EXPECT_EQ(frames[0], kText + 0x10);
  EXPECT_EQ(memory.forbidden_reads, 0U);
}

TEST_P(EachTarget, AKernelInTheLowerHalfHasItsStacksInItsRangeOrAbove) {
  constexpr GuestRange kLow{GuestVa{0x80200000}, GuestVa{0x80207fff}};
  const auto walk_at = [&](GuestVa sp) {
    FakeMemory low(std::vector{kLow, guest::kDefaultKernelRange});
    const auto& layout = guest::info(GetParam()).frame;
    for (const auto& [fp, next] : {std::pair{sp + 0x20, sp + 0x60}, std::pair{sp + 0x60, GuestVa{0}}}) {
      low.put(fp + layout.saved_fp_bytes, next.raw);
      low.put(fp + layout.return_pc_bytes, 0x80200010);
    }
    std::array<GuestVa, 8> found{};
    const auto result = walk_frames({GetParam(), kLow, uint64_t{1} << 20, nullptr}, sp, sp + 0x20, low, found);
    EXPECT_EQ(low.forbidden_reads, 0U) << std::hex << sp.raw;
    if (result.frames == 0) {
      EXPECT_EQ(low.reads, 0U) << std::hex << sp.raw;
    }
    return result.frames;
  };
  EXPECT_EQ(walk_at(GuestVa{0x80204000}), 2U);
  EXPECT_EQ(walk_at(kSp), 2U);
  EXPECT_EQ(walk_at(GuestVa{0x80300000}), 0U) << "user memory, for all that is known";
  EXPECT_EQ(walk_at(kLow.last - 0x2f), 1U) << "its second frame lies beyond the range";
}

/// Words that look like what a walk believes: the hostile guest's best attempt.
TEST_P(EachTarget, HostileChainsStayInsideTheirBounds) {
  std::mt19937_64 random(7);
  std::set<StopReason> seen;
  StackPages known;
  for (int round = 0; round < 3000; ++round) {
    FakeMemory hostile;
    for (int i = 0; i < 200; ++i) {
      uint64_t word = random();
      switch (random() % 8) {
        case 0: word = 0; break;
        case 1: word = kText.raw + (random() & 0xfff); break;
        case 2: word = kText.raw + (random() & 0xff0); break;
        case 3:
        case 4: word = kSp.raw + (random() & 0x1ff8); break;
        case 5: word = kSp.raw + (random() & 0xfffff8); break;
        case 6: word = kSp.raw + (random() & 0x3ff); break;
        default: break;
      }
      hostile.put(kSp + static_cast<int64_t>((random() & 0x1ff) * 8), word);
    }
    if (round % 7 == 0) hostile.unmap_page(kSp + 0x1000);
    std::array<GuestVa, 8> few{};
    const WalkLimits bounds{GetParam(), {kSp - 0x2000, GuestVa{0xffffffffffffffff}}, 0x2000, &known};
    const auto result = walk_frames(bounds, kSp, kSp + static_cast<int64_t>((random() & 0x3f) * 8), hostile, few);
    ASSERT_LE(result.frames, few.size());
    ASSERT_EQ(hostile.forbidden_reads, 0U);
    ASSERT_LE(hostile.reads, 4U + 4 * kMaxStackChanges);
    for (size_t i = 0; i < result.frames; ++i)
      ASSERT_TRUE(bounds.kernel_range.contains(guest::strip_authentication(GetParam(), few[i])));
    seen.insert(result.stop);
  }
  EXPECT_GE(seen.size(), 6U) << "the generator has become too tame";
}

TEST(FrameWalk, AarchReturnAddressesLoseTheirAuthentication) {
  FakeMemory memory;
  memory.put(kSp + 0x20, 0);
  memory.put(kSp + 0x28, 0x12b4800008001234);
  std::array<GuestVa, 4> frames{};
  const auto result =
      walk_frames({Target::kAarch64, guest::kDefaultKernelRange, 1 << 20, nullptr}, kSp, kSp + 0x20, memory, frames);
  EXPECT_EQ(result.frames, 1U);
  EXPECT_EQ(frames[0].raw, 0xffff800008001234U);
}

TEST(FrameWalk, AMarkedFirstFramePointerIsAnInterruptFrame) {
  FakeMemory memory;
  std::array<GuestVa, 4> frames{};
  const auto result =
      walk_frames({Target::kX86_64, guest::kDefaultKernelRange, 1 << 20, nullptr}, kSp, kSp + 0x21, memory, frames);
  EXPECT_EQ(result.stop, StopReason::kInterruptFrame);
  EXPECT_EQ(result.frames, 0U);
}

}  // namespace
}  // namespace qperf::unwind
