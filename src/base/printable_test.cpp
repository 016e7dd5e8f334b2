#include "base/printable.h"

#include <gtest/gtest.h>

namespace qperf {
namespace {

TEST(Printable, KeepsOrdinaryTextAndUtf8) { EXPECT_EQ(printable("gc 线程 é"), "gc 线程 é"); }

TEST(Printable, NeutralisesTerminalCodesAndLineBreaks) {
  EXPECT_EQ(printable("a\x1b[31mb\nc\x7f"), "a\\x1b[31mb\\x0ac\\x7f");
  EXPECT_EQ(printable("\xc2\x9b"), "\\xc2\\x9b");           // C1 control sequence introducer
  EXPECT_EQ(printable("\xe2\x80\xae"), "\\xe2\\x80\\xae");  // right-to-left override
}

TEST(Printable, ShowsInvalidBytes) {
  EXPECT_EQ(printable("\xff\xc0\x80"), "\\xff\\xc0\\x80");
  EXPECT_EQ(printable("\xed\xa0\x80"), "\\xed\\xa0\\x80");  // a surrogate
  EXPECT_EQ(printable("\xe2\x82"), "\\xe2\\x82");
}

}  // namespace
}  // namespace qperf
