#include "base/pattern.h"

#include <gtest/gtest.h>

#include <random>
#include <regex>
#include <string>

namespace qperf {
namespace {

bool found(std::string_view expression, std::string_view text) {
  const auto pattern = Pattern::parse(expression);
  EXPECT_TRUE(pattern) << expression;
  return pattern && pattern->found_in(text);
}

TEST(Pattern, FindsPartsOfTheText) {
  EXPECT_TRUE(found("lock", "spin_lock_irq"));
  EXPECT_FALSE(found("^lock", "spin_lock_irq"));
  EXPECT_TRUE(found("^spin.*irq$", "spin_lock_irq"));
  EXPECT_TRUE(found("", ""));
  EXPECT_TRUE(found("a|b", "xb"));
  EXPECT_FALSE(found("^(a|bc){2,3}$", "abcabca"));
  EXPECT_TRUE(found("^(a|bc){2,3}$", "abca"));
  EXPECT_TRUE(found("\\bread\\b", "vfs::read(x)"));
  EXPECT_FALSE(found("\\bread\\b", "vfs_read"));
  EXPECT_TRUE(found("(?i)READ", "vfs_read"));
  EXPECT_TRUE(found("[^a-z_]", "vfs_read2"));
  EXPECT_TRUE(found("a{x", "a{x"));
}

// The standard library as judge, on short texts where it is safe.
TEST(Pattern, AgreesWithTheStandardLibrary) {
  std::mt19937 random(7);
  const std::string pieces[] = {"a", "b", "(", ")", "|", "*", "+", "?", ".", "[ab]", "[^a]", "\\w", "\\b", "^", "$", "{2}", "{1,2}", "c"};
  int compared = 0;
  for (int i = 0; i < 20000; ++i) {
    std::string expression;
    for (auto n = random() % 7; n > 0; --n) expression += pieces[random() % std::size(pieces)];
    std::regex judge;
    try {
      judge = std::regex(expression);
    } catch (const std::regex_error&) {
      continue;
    }
    const auto pattern = Pattern::parse(expression);
    if (!pattern) continue;  // repeats of assertions, which the judge allows or not by version
    ++compared;
    for (int t = 0; t < 5; ++t) {
      std::string text;
      for (auto n = random() % 6; n > 0; --n) text += "abc _"[random() % 5];
      EXPECT_EQ(pattern->found_in(text), std::regex_search(text, judge)) << expression << " in " << text;
    }
  }
  EXPECT_GT(compared, 5000);
}

TEST(Pattern, IsNotAfraidOfLongNames) {
  const std::string name(1000000, 'a');
  EXPECT_FALSE(found("(a*)*b", name));
  EXPECT_TRUE(found("a.*a$", name));
}

TEST(Pattern, RefusesWhatItDoesNotKnow) {
  for (const char* wrong : {"(", ")", "[", "a\\", "*a", "\\q", "(?=a)", "[b-a]", "a{3,2}", "((((a{1000}){1000}){1000}){1000}){9}"}) {
    const auto pattern = Pattern::parse(wrong);
    ASSERT_FALSE(pattern) << wrong;
    EXPECT_EQ(pattern.error().code, ErrorCode::kUsage);
    EXPECT_NE(pattern.error().message.find("no regular expression"), std::string::npos);
  }
  EXPECT_FALSE(Pattern::parse(std::string(100000, '(')));
}

}  // namespace
}  // namespace qperf
