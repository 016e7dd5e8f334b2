#include "symbols/demangle.h"

#include <gtest/gtest.h>

namespace qperf::symbols {
namespace {

TEST(Demangle, RustLegacyLosesItsHash) {
  EXPECT_EQ(demangle("_ZN6kernel5print11rust_fmt_fn17h1a2b3c4d5e6f7a8bE"), "kernel::print::rust_fmt_fn");
  EXPECT_EQ(demangle("_ZN4core3fmt9Formatter9write_str17h0123456789abcdefE.llvm.1234567890"),
            "core::fmt::Formatter::write_str");
  EXPECT_EQ(demangle("_ZN61_$LT$alloc..vec..Vec$LT$T$GT$$u20$as$u20$core..fmt..Debug$GT$3fmt17h0123456789abcdefE"),
            "<alloc::vec::Vec<T> as core::fmt::Debug>::fmt");
}

TEST(Demangle, RustV0) {
  EXPECT_EQ(demangle("_RNvCs1234_7mycrate3foo"), "mycrate::foo");
  EXPECT_EQ(demangle("_RNvMNtCs1234_4core6optionINtB2_6OptionhE6unwrap.llvm.42").substr(0, 1), "<");
}

TEST(Demangle, Cpp) {
  EXPECT_EQ(demangle("_ZN4demo5countERNS_7CounterIiEE"), "demo::count(demo::Counter<int>&)");
  EXPECT_EQ(demangle("_Z3addii.constprop.0.cold"), "add(int, int)");
}

TEST(Demangle, ClonesOfOneFunctionKeepItsName) {
  EXPECT_EQ(demangle("vfs_read"), "vfs_read");
  EXPECT_EQ(demangle("vfs_read.isra.0"), "vfs_read");
  EXPECT_EQ(demangle("vfs_read.part.0.constprop.3.cold"), "vfs_read");
  EXPECT_EQ(demangle("vfs_read.cold.12"), "vfs_read");
  EXPECT_EQ(demangle("vfs_read.llvm.987"), "vfs_read");
}

TEST(Demangle, OtherDotsStay) {
  EXPECT_EQ(demangle(".isra.0"), ".isra.0");
  EXPECT_EQ(demangle("counter.3"), "counter.3");
  EXPECT_EQ(demangle("name.isra"), "name.isra");
  EXPECT_EQ(demangle("name.more.0"), "name.more.0");
  EXPECT_EQ(demangle("."), ".");
  EXPECT_EQ(demangle(""), "");
}

TEST(Demangle, WhatDoesNotDemangleStaysRaw) {
  EXPECT_EQ(demangle("_ZNotAName"), "_ZNotAName");
  EXPECT_EQ(demangle("_RNvCs1234_7mycr"), "_RNvCs1234_7mycr");
  EXPECT_EQ(demangle("_Register"), "_Register");
}

TEST(Demangle, AShortNameThatExpandsWithoutEndStaysRaw) {
  // Each level names the one before twice: 2^60 times the innermost.
  std::string bomb = "_Z1fSt4pairIiiE";
  for (int i = 0; i < 60; ++i)
    bomb += "S" + (i == 0 ? std::string() : std::string(1, "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ"[(i - 1) % 36])) + "_";
  EXPECT_LE(demangle(bomb).size(), 65'536U);
  std::string tuples = "_RINvC1a1b";
  for (int i = 0; i < 200; ++i) tuples += "TTB8_B8_E";
  EXPECT_LE(demangle(tuples + "E").size(), 16'384U);
  EXPECT_EQ(demangle("_Z" + std::string(100'000, 'P')).size(), 100'002U);
}

}  // namespace
}  // namespace qperf::symbols
