#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "symbols/image.h"

namespace qperf::symbols {

/// Tests over the ELF files that fixtures.cmake builds from testdata/.
class FixtureTest : public testing::Test {
 protected:
  void SetUp() override {
    if (std::string(QPERF_SYMBOL_FIXTURES).empty()) GTEST_SKIP() << "needs clang-19, lld-19 and llvm-19 to build ELF files";
  }

  static std::string fixture(const std::string& name) { return std::string(QPERF_SYMBOL_FIXTURES) + "/" + name; }

  static Image open(const std::string& name) {
    auto image = Image::open(fixture(name));
    if (!image) throw std::runtime_error(image.error().message);
    return *std::move(image);
  }

  static GuestVa address(const Image& image, const std::string& name) {
    const auto found = image.symbol_address(name);
    if (!found) throw std::runtime_error("no symbol " + name);
    return *found;
  }

  static Location locate(const Image& image, GuestVa at) {
    const auto found = image.symbolize(std::span(&at, 1));
    if (!found) throw std::runtime_error(found.error().message);
    return found->at(0);
  }

  /// The line of testdata/FILE that says MARK name.
  static uint32_t line_of(const std::string& file, const std::string& mark) {
    std::ifstream in(std::string(QPERF_SYMBOL_TESTDATA) + "/" + file);
    std::string line;
    for (uint32_t number = 1; std::getline(in, line); ++number)
      if (line.ends_with("// MARK " + mark)) return number;
    throw std::runtime_error(file + ": no MARK " + mark);
  }

  /// The three levels at the label inside innermost().
  static void expect_inlines(const Image& image) {
    const Location location = locate(image, address(image, "spot_inlined"));
    ASSERT_EQ(location.source, NameSource::kDwarf);
    ASSERT_EQ(location.frames.size(), 3U);
    const auto expect = [&](size_t level, const char* name, const char* mark, bool inlined) {
      const SourceFrame& frame = location.frames[level];
      EXPECT_EQ(frame.function, name);
      EXPECT_EQ(frame.line, line_of("inlines.c", mark));
      EXPECT_TRUE(frame.file.ends_with("testdata/inlines.c")) << frame.file;
      EXPECT_EQ(frame.inlined, inlined);
    };
    expect(0, "innermost", "innermost", true);
    expect(1, "middle", "middle", true);
    expect(2, "outer", "outer", false);
    EXPECT_EQ(location.frames[2].start_line, line_of("inlines.c", "outer_start"));
  }
};

}  // namespace qperf::symbols
