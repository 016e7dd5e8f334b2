#include "symbols/prologue.h"

#include <gtest/gtest.h>

#include <initializer_list>

/// The bytes are what clang 19 makes of one small function with a call in it, with and without -fno-omit-frame-pointer.
namespace qperf::symbols {
namespace {

using guest::Target;

Prologue judge(Target target, std::initializer_list<int> bytes) {
  std::vector<std::byte> code;
  for (const int byte : bytes) code.push_back(static_cast<std::byte>(byte));
  return judge_prologue(target, code);
}

TEST(Prologue, Riscv64) {
  EXPECT_EQ(judge(Target::kRiscv64, {0x1d, 0x71, 0x86, 0xec, 0xa2, 0xe8, 0xa6, 0xe4, 0x80, 0x10}), Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kRiscv64, {0x5d, 0x71, 0x86, 0xe4, 0xa2, 0xe0, 0x8a, 0x85}), Prologue::kFrameOnly);
  // Without compressed instructions: addi sp; sd ra; sd s0; addi s0, sp, 32.
  EXPECT_EQ(
      judge(Target::kRiscv64, {0x13, 0x01, 0x01, 0xfe, 0x23, 0x3c, 0x11, 0x00, 0x23, 0x38, 0x81, 0x00, 0x13, 0x04, 0x01, 0x02}),
      Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kRiscv64, {0x05, 0x46, 0x82, 0x80}), Prologue::kNoFrame);
}

TEST(Prologue, Aarch64) {
  EXPECT_EQ(judge(Target::kAarch64, {0xff, 0x83, 0x01, 0xd1, 0xfd, 0x7b, 0x04, 0xa9, 0xfd, 0x03, 0x01, 0x91}),
            Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kAarch64, {0xff, 0x43, 0x01, 0xd1, 0xfe, 0x4f, 0x04, 0xa9, 0x29, 0x00, 0x80, 0x52}),
            Prologue::kFrameOnly);
  // stp x29, x30, [sp, #-16]!; mov x29, sp, and str x30, [sp, #-16]!
  EXPECT_EQ(judge(Target::kAarch64, {0xfd, 0x7b, 0xbf, 0xa9, 0xfd, 0x03, 0x00, 0x91}), Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kAarch64, {0xfe, 0x0f, 0x1f, 0xf8}), Prologue::kFrameOnly);
}

TEST(Prologue, Loongarch64) {
  EXPECT_EQ(judge(Target::kLoongarch64,
                  {0x63, 0x80, 0xfe, 0x02, 0x61, 0x60, 0xc1, 0x29, 0x76, 0x40, 0xc1, 0x29, 0x76, 0x80, 0xc1, 0x02}),
            Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kLoongarch64,
                  {0x63, 0xc0, 0xfe, 0x02, 0x61, 0x20, 0xc1, 0x29, 0x76, 0x00, 0xc1, 0x29, 0x65, 0x00, 0xc0, 0x02}),
            Prologue::kFrameOnly);
}

TEST(Prologue, X86) {
  EXPECT_EQ(judge(Target::kX86_64, {0x55, 0x48, 0x89, 0xe5, 0x53, 0x48, 0x83, 0xec, 0x48}), Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kX86_64, {0xf3, 0x0f, 0x1e, 0xfa, 0x55, 0x48, 0x8b, 0xec, 0xc3}), Prologue::kFramePointer);
  EXPECT_EQ(judge(Target::kX86_64, {0x53, 0x48, 0x83, 0xec, 0x40, 0xe8, 0x10, 0x02, 0x00, 0x00, 0xc3}), Prologue::kFrameOnly);
  EXPECT_EQ(judge(Target::kX86_64, {0x31, 0xc0, 0xc3}), Prologue::kNoFrame);
}

TEST(Prologue, NothingIsReadBeyondTheFunction) {
  for (const auto target : {Target::kRiscv64, Target::kLoongarch64, Target::kAarch64, Target::kX86_64}) {
    EXPECT_EQ(judge(target, {}), Prologue::kNoFrame);
    EXPECT_EQ(judge(target, {0x93}), Prologue::kNoFrame);
    EXPECT_EQ(judge(target, {0x13, 0x04, 0x01}), Prologue::kNoFrame);
  }
}

}  // namespace
}  // namespace qperf::symbols
