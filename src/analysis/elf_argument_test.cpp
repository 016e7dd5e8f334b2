#include "analysis/elf_argument.h"

#include <gtest/gtest.h>

namespace qperf::analysis {
namespace {

TEST(ElfArgument, TheSlideFollowsTheLastAt) {
  EXPECT_EQ(parse_elf_argument("vmlinux"), (ElfArgument{"vmlinux", std::nullopt}));
  EXPECT_EQ(parse_elf_argument("vmlinux@0x200000"), (ElfArgument{"vmlinux", 0x200000}));
  EXPECT_EQ(parse_elf_argument("vmlinux@65536"), (ElfArgument{"vmlinux", 65536}));
  EXPECT_EQ(parse_elf_argument("vmlinux@-0x10000"), (ElfArgument{"vmlinux", ~uint64_t{0xffff}}));
  EXPECT_EQ(parse_elf_argument("a@b/vmlinux@0"), (ElfArgument{"a@b/vmlinux", 0}));
}

TEST(ElfArgument, WhatIsNoNumberBelongsToThePath) {
  for (const char* text :
       {"kernel@home.elf", "vmlinux@", "vmlinux@0x", "@0x1000", "vmlinux@0x1ffffffffffffffff", "vmlinux@--1"})
    EXPECT_EQ(parse_elf_argument(text), (ElfArgument{text, std::nullopt})) << text;
}

TEST(Unsigned, DecimalOrHexAndNothingElse) {
  EXPECT_EQ(parse_unsigned("0"), 0U);
  EXPECT_EQ(parse_unsigned("0xffffffffffffffff"), ~uint64_t{0});
  for (const char* text : {"", "-1", "+1", " 1", "1 ", "1e3", "0x", "18446744073709551616", "0xg"})
    EXPECT_FALSE(parse_unsigned(text)) << text;
}

}  // namespace
}  // namespace qperf::analysis
