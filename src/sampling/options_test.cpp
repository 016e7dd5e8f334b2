#include "sampling/options.h"

#include <fmt/core.h>
#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <vector>

namespace qperf::sampling {
namespace {

Result<Options> parse(std::vector<std::string> arguments, guest::Target target = guest::Target::kRiscv64) {
  const std::vector<std::string_view> views(arguments.begin(), arguments.end());
  return parse_options(views, target);
}

/// The message of a refusal; empty if it was accepted.
std::string refusal(std::vector<std::string> arguments) {
  const auto result = parse(std::move(arguments));
  return result ? std::string() : result.error().message;
}

TEST(Options, DefaultsAreThoseOfTheTable) {
  const auto options = parse({});
  ASSERT_TRUE(options);
  EXPECT_EQ(options->mode, guest::Mode::kWall);
  EXPECT_EQ(options->freq_hz, 99U);
  EXPECT_EQ(options->period_insns, 100000U);
  EXPECT_EQ(options->jitter_percent, 0U);
  EXPECT_EQ(options->out_path, "qperf.bin");
  EXPECT_EQ(options->kernel_range.first.raw, 0x8000000000000000U);
  EXPECT_EQ(options->kernel_range.last.raw, 0xffffffffffffffffU);
  EXPECT_EQ(options->max_frames, 128U);
  EXPECT_EQ(options->max_stack_bytes, 1048576U);
  EXPECT_EQ(options->queue_samples, 4096U);
  EXPECT_EQ(options->event_queue, 16384U);
  EXPECT_TRUE(options->elf_path.empty());
  EXPECT_TRUE(options->control_path.empty());
  EXPECT_FALSE(options->trace_address);
}

TEST(Options, EveryNumberIsHeldToItsLimitsAndSaysThem) {
  size_t numbers = 0;
  for (const auto& row : option_table()) {
    if (row.kind != OptionKind::kNumber) continue;
    ++numbers;
    const auto with = [&](const std::string& value) { return fmt::format("{}={}", row.name, value); };
    EXPECT_EQ(refusal({with(fmt::format("{}", row.least))}), "");
    EXPECT_EQ(refusal({with(fmt::format("{}", row.greatest))}), "");
    EXPECT_EQ(refusal({with(fmt::format("{:#x}", row.greatest))}), "");
    std::vector<std::string> bad = {fmt::format("{}", row.greatest + 1), "", "x", "-1", "1.5", "99999999999999999999", "1 ", "0x"};
    if (row.least > 0) bad.push_back(fmt::format("{}", row.least - 1));
    for (const auto& value : bad) {
      const auto message = refusal({with(value)});
      EXPECT_NE(message.find(with(value)), std::string::npos) << message;
      EXPECT_NE(message.find(fmt::format("from {} to {}", row.least, row.greatest)), std::string::npos) << message;
    }
  }
  EXPECT_GE(numbers, 7U);
}

TEST(Options, HelpNamesEveryArgumentWithItsLimits) {
  const auto help = option_help();
  for (const auto& row : option_table()) {
    EXPECT_NE(help.find(fmt::format("  {}={}", row.name, row.value_name)), std::string::npos);
    if (row.kind == OptionKind::kNumber) {
      EXPECT_NE(help.find(fmt::format("{} to {}", row.least, row.greatest)), std::string::npos);
    }
  }
  EXPECT_TRUE(parse({"help=on"})->help);
}

/// docs/plugin.md has one row an argument; what it must be follows from the table.
TEST(Options, ThePageInTheDocsSaysTheSame) {
  std::ifstream file(QPERF_SOURCE_DIR "/docs/plugin.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  ASSERT_FALSE(page.empty());
  for (const auto& row : option_table()) {
    std::string value(row.value_name);
    for (size_t at = value.find('|'); at != std::string::npos; at = value.find('|', at + 2)) value.insert(at, "\\");
    const auto text = [](std::string_view shown) { return shown.empty() ? std::string(" ") : fmt::format(" `{}` ", shown); };
    const bool is_number = row.kind == OptionKind::kNumber;
    const auto expected = fmt::format("| `{}={}` |{}|{}|{}|", row.name, value, text(row.default_text),
                                      is_number ? fmt::format(" {} ", row.least) : " ",
                                      is_number ? fmt::format(" {} ", row.greatest) : " ");
    EXPECT_NE(page.find(expected), std::string::npos) << "docs/plugin.md lacks: " << expected;
  }
}

TEST(Options, MistakesAreNamed) {
  EXPECT_NE(refusal({"frequency=99"}).find("frequency: no such argument; allowed are mode, freq"), std::string::npos);
  EXPECT_NE(refusal({"freq=99", "freq=100"}).find("freq: given twice"), std::string::npos);
  EXPECT_NE(refusal({"mode=fast"}).find("wall, icount or exact"), std::string::npos);
  EXPECT_NE(refusal({"kernel=0x9000:0x8000"}).find("LO is above HI"), std::string::npos);
  for (const char* bad : {"kernel=", "kernel=1", "kernel=1:", "kernel=:1", "kernel=a:b", "kernel=1:2:3"})
    EXPECT_NE(refusal({bad}).find("LO:HI"), std::string::npos) << bad;
  EXPECT_NE(refusal({"out="}).find("a path is needed"), std::string::npos);
  EXPECT_NE(refusal({"trace=foo"}).find("an address is needed"), std::string::npos);
  EXPECT_NE(refusal({"trace=0x1000"}).find("outside kernel="), std::string::npos);
  EXPECT_NE(refusal({"trace=0xffffffff80000001"}).find("multiple of 2"), std::string::npos);
  EXPECT_EQ(refusal({"\x1b[31m=1"}).find('\x1b'), std::string::npos) << "a message is safe for a terminal";
}

TEST(Options, RangeIsInclusiveAndTraceIsChecked) {
  const auto options = parse({"kernel=0x9000:0x9fff", "trace=0x9ffe"});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->kernel_range.contains(GuestVa{0x9fff}));
  EXPECT_FALSE(options->kernel_range.contains(GuestVa{0xa000}));
  EXPECT_EQ(options->trace_address, GuestVa{0x9ffe});
  EXPECT_TRUE(parse({"trace=0xffffffff80000001"}, guest::Target::kX86_64));
}

TEST(Options, WhatHasNoEffectIsSaid) {
  EXPECT_NE(parse({"period=5000"})->warnings.find("period= has no effect in mode=wall"), std::string::npos);
  EXPECT_EQ(parse({"mode=icount", "period=5000", "jitter=10"})->warnings, "");
}

}  // namespace
}  // namespace qperf::sampling
