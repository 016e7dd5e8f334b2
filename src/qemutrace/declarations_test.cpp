#include "qemutrace/declarations.h"

#include <gtest/gtest.h>

#include <cstdlib>

#include "qemutrace/format.h"

namespace qperf::qemutrace {
namespace {

Declarations parsed(std::string_view text, TypeRule rule = TypeRule::kToday) {
  auto result = Declarations::parse(text, "events", rule);
  EXPECT_TRUE(result.ok()) << (result ? "" : result.error().message);
  return result ? *std::move(result) : Declarations();
}

std::string refusal(std::string_view text) {
  const auto result = Declarations::parse(text, "events");
  return result ? "accepted" : result.error().message;
}

TEST(Declarations, SplitsPropertiesArgumentsAndFormat) {
  const auto d =
      parsed("# comment\n\n  disable vcpu a_b(int x, const char *s,  unsigned  long n , void* p) \"x=%d \" \"s=%s\"\n");
  const Declaration* e = d.find("a_b");
  ASSERT_NE(e, nullptr);
  EXPECT_TRUE(e->disabled);
  EXPECT_TRUE(e->vcpu);
  EXPECT_EQ(e->line, 3U);
  EXPECT_EQ(e->format, "\"x=%d \" \"s=%s\"");
  ASSERT_EQ(e->arguments.size(), 4U);
  EXPECT_EQ(e->arguments[0].kind, ArgumentKind::kSigned);
  EXPECT_EQ(e->arguments[0].width_bytes, 4);
  EXPECT_EQ(e->arguments[1].kind, ArgumentKind::kString);
  EXPECT_EQ(e->arguments[1].type, "const char *");
  EXPECT_EQ(e->arguments[2].kind, ArgumentKind::kUnsigned);
  EXPECT_EQ(e->arguments[2].width_bytes, 8);
  EXPECT_EQ(e->arguments[2].name, "n");
  EXPECT_EQ(e->arguments[3].kind, ArgumentKind::kPointer);
}

TEST(Declarations, AppliesQemusStringTest) {
  const auto d = parsed("e(char *a, char **b, const uint8_t *c, char  *d, const char* e)\n");
  const auto& a = d.all().front().arguments;
  EXPECT_EQ(a[0].kind, ArgumentKind::kString);
  EXPECT_EQ(a[1].kind, ArgumentKind::kPointer);
  EXPECT_EQ(a[2].kind, ArgumentKind::kPointer);
  EXPECT_EQ(a[3].kind, ArgumentKind::kPointer);
  EXPECT_EQ(a[4].kind, ArgumentKind::kString);
}

TEST(Declarations, KnowsWidthsOfCompoundTypes) {
  const auto d =
      parsed("e(short int a, long int b, long long c, unsigned char d, unsigned e, const uint16_t f, bool g, ssize_t h)\n");
  const auto& a = d.all().front().arguments;
  const uint8_t widths[] = {2, 8, 8, 1, 4, 2, 1, 8};
  for (size_t i = 0; i < 8; ++i) EXPECT_EQ(a[i].width_bytes, widths[i]) << a[i].name;
  EXPECT_EQ(a[3].kind, ArgumentKind::kUnsigned);
  EXPECT_EQ(a[7].kind, ArgumentKind::kSigned);
}

TEST(Declarations, AcceptsEmptyFormatAndVoid) {
  const auto d = parsed("a(void) \nb(int x) no quote\nc(void) \"x\" # trailing\n");
  EXPECT_TRUE(d.find("a")->arguments.empty());
  EXPECT_EQ(d.find("b")->format, "");
  EXPECT_TRUE(CompiledFormat::compile(*d.find("c")).has_value());
}

TEST(Declarations, SplitsHistoricTcgEvents) {
  const auto d = parsed(
      "vcpu tcg mem(TCGv vaddr, uint8_t info) \"info=%d\", \"vaddr=0x%016\"PRIx64\" info=%d\"\nplain(int a) \"x\", \"a=%d\"\n");
  ASSERT_NE(d.find("mem_trans"), nullptr);
  EXPECT_EQ(d.find("mem_trans")->arguments.size(), 1U);
  EXPECT_EQ(d.find("mem_trans")->format, "\"info=%d\"");
  EXPECT_EQ(d.find("mem_exec")->arguments.size(), 2U);
  EXPECT_EQ(d.find("plain")->format, "\"a=%d\"");
}

// Names and formats are printed as they are declared: an events file must not reach the terminal through them.
TEST(Declarations, RefusesWhatATerminalWouldObey) {
  EXPECT_EQ(refusal("a(int x\x1b]0;title\x07)\n"),
            "events:1: event a: argument 1 is named 'x\\x1b]0;title\\x07', expected a C name of letters, digits and '_'");
  EXPECT_NE(refusal("a(int a[4])\n").find("named 'a[4]'"), std::string::npos);
  EXPECT_NE(refusal("a(int 1x)\n").find("named '1x'"), std::string::npos);
  EXPECT_NE(refusal("a(char *\xc3\xa4)\n").find("expected a C name"), std::string::npos);
  EXPECT_EQ(refusal("a(int x) \"x \x1b[2J%d\"\n"),
            "events:1: event a: the format has bytes that a terminal would obey, or that are no UTF-8, expected text: "
            "'\\x1b[2J%d\"'");
  for (const char* bad : {"\x9b", "\xc2\x9b", "\x7f", "\x01", "\xe2\x80\xae", "\xff"})
    EXPECT_NE(refusal("a(int x) \"%d" + std::string(bad) + "\"\n").find("the format has bytes"), std::string::npos) << bad;
  EXPECT_NE(refusal("tcg a(int x) \"%d\", \"\x1b[2J%d\"\n").find("the format has bytes"), std::string::npos);
  const auto d = parsed("a(int _x, int X2) \"\t%d \xc2\xb5s\t%d\"\nb(int x) not a \x1b[2J format\n# any \x1b[2J comment\n");
  EXPECT_EQ(d.find("a")->arguments[1].name, "X2");
  EXPECT_EQ(d.find("b")->format, "");
}

TEST(Declarations, RefusesWithFileLineAndExpectation) {
  EXPECT_EQ(refusal("\na(int x) \"%d\""),
            "events:2: the last line does not end in a newline, as QEMU requires: the file may be cut, or add one");
  EXPECT_EQ(refusal("hot a(int x)\n"), "events:1: event a: unknown property 'hot', expected disable, vcpu or tcg");
  EXPECT_EQ(refusal("a()\n"), "events:1: event a: argument 1 is empty, expected 'type name', or (void) for none");
  EXPECT_EQ(refusal("a(int x,)\n"), "events:1: event a: argument 2 is empty, expected 'type name', or (void) for none");
  EXPECT_EQ(refusal("a(int)\n"), "events:1: event a: argument 'int' has no name, expected 'type name'");
  EXPECT_NE(refusal("a(struct x *p)\n").find("has type 'struct'"), std::string::npos);
  EXPECT_NE(refusal("a(off_t p)\n").find("has type 'off_t'"), std::string::npos);
  EXPECT_NE(refusal("a(int a,int b,int c,int d,int e,int f,int g,int h,int i,int j,int k)\n").find("more than 10"),
            std::string::npos);
  EXPECT_NE(refusal("a(int x) \"%m\"\n").find("%m"), std::string::npos);
  EXPECT_NE(refusal("a(int x) \"%d\\n\"\n").find("\\n"), std::string::npos);
  EXPECT_NE(refusal("a (int x)\n").find("right before '('"), std::string::npos);
  EXPECT_NE(refusal("nothing\n").find("expected 'name(arguments)"), std::string::npos);
  EXPECT_NE(refusal("a(int x\n").find("expected ')'"), std::string::npos);
  EXPECT_NE(refusal("a(int x)\na(int y)\n").find("declared differently in line 1"), std::string::npos);
  EXPECT_EQ(refusal("a(int x)\na(int x)\n"), "accepted");
  EXPECT_EQ(refusal("a(\x1b[31m x)\n").find('\x1b'), std::string::npos);
}

TEST(Declarations, HistoricRuleTakesAnyType) {
  EXPECT_EQ(parsed("a(struct BlockDriverState *bs, target_phys_addr_t p)\n", TypeRule::kHistoric).all().size(), 1U);
}

TEST(Declarations, ReadsARealFile) {
  const char* data = std::getenv("QPERF_TEST_DATA");
  if (data == nullptr || *data == '\0') GTEST_SKIP() << "QPERF_TEST_DATA is not set";
  const auto d = Declarations::load(std::string(data) + "/qemu-traces/trace-events-all");
  ASSERT_TRUE(d.ok()) << d.error().message;
  EXPECT_EQ(d->all().size(), 5843U);
  size_t counts[11] = {};
  std::string without_format;
  for (const Declaration& e : d->all()) {
    ++counts[e.arguments.size()];
    if (!CompiledFormat::compile(e)) without_format += e.name + " ";
  }
  EXPECT_EQ(counts[10], 8U);
  EXPECT_EQ(without_format, "");
}

std::string rendered(std::string_view declaration, std::vector<Value> values) {
  const auto d = parsed(declaration);
  const auto format = CompiledFormat::compile(d.all().front());
  if (!format) return "(no format)";
  std::string out;
  format->render(values, out);
  return out;
}

TEST(CompiledFormat, RendersAsPrintf) {
  EXPECT_EQ(rendered("e(int a, uint64_t b) \"a %d b 0x%\"PRIx64\"!\"\n", {{~uint64_t{0}, nullptr}, {255, nullptr}}),
            "a -1 b 0xff!");
  EXPECT_EQ(rendered("e(int a, void *p) \"%04x %p 100%%\"\n", {{10, nullptr}, {0, nullptr}}), "000a 0x0 100%");
  EXPECT_EQ(rendered("e(const char *s) \"[%6s]\"\n", {{2, "hi"}}), "[    hi]");
  EXPECT_EQ(rendered("e(const char *s) \"[%s]\"\n", {{1, "\x1b"}}), "[\\x1b]");
  EXPECT_EQ(rendered("e(unsigned w, uint64_t a) \"0x%0*\"PRIx64\" end\"\n", {{4, nullptr}, {0xab, nullptr}}), "0x00ab end");
  EXPECT_EQ(rendered("e(uint8_t a) \"%\" PRIu8 \" %d\"\n", {{1, nullptr}}), "(no format)");
  EXPECT_EQ(rendered("e(int a) \"%999999999d\"\n", {{1, nullptr}}), "(no format)");
}

TEST(CompiledFormat, ReadsBackWhatItRendered) {
  const auto d = parsed("e(int a, const char *s, uint64_t b, const char *t) \"a=%d (%s) 0x%\"PRIx64\" '%s' end\"\n");
  const auto format = CompiledFormat::compile(d.all().front());
  ASSERT_TRUE(format.has_value());
  const std::vector<Value> in = {{~uint64_t{6}, nullptr}, {5, "x) 0x"}, {0xabc, nullptr}, {3, "it'"}};
  std::string text;
  format->render(in, text);
  std::vector<Value> out(4);
  ASSERT_EQ(format->match(text, d.all().front(), out), uint16_t{0});
  EXPECT_EQ(out[0].number, ~uint64_t{6});
  EXPECT_EQ(out[1].string(), "x) 0x");
  EXPECT_EQ(out[2].number, 0xabcU);
  EXPECT_EQ(out[3].string(), "it'");
  EXPECT_FALSE(format->match("a=1 (x) 0x1 'y' ende", d.all().front(), out).has_value());
}

}  // namespace
}  // namespace qperf::qemutrace
