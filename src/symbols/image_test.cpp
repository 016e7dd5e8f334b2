#include "symbols/image.h"

#include <elfutils/version.h>
#include <unistd.h>

#include <algorithm>
#include <stdexcept>

#include "symbols/fixture_test.h"

namespace qperf::symbols {
namespace {

namespace fs = std::filesystem;

class ImageTest : public FixtureTest {
 protected:
  static bool warns_of(const Image& image, std::string_view word) {
    return std::ranges::any_of(image.warnings(), [&](const std::string& w) { return w.find(word) != w.npos; });
  }
};

TEST_F(ImageTest, InlinedFramesOfEveryTarget) {
  for (const auto& info : guest::all_targets()) {
    SCOPED_TRACE(info.name);
    const Image image = open("inlines-" + std::string(info.name) + ".elf");
    EXPECT_EQ(image.target(), info.target);
    EXPECT_TRUE(image.has_dwarf());
    EXPECT_TRUE(image.warnings().empty());
    EXPECT_EQ(image.build_id().size(), 20U);
    expect_inlines(image);
    const GuestVa body = address(image, "spot_body");
    EXPECT_EQ(image.function_start(body), address(image, "with_frame"));
    EXPECT_NE(image.function_start(body), body);
    EXPECT_EQ(locate(image, body).frames[0].line, line_of("inlines.c", "body"));
  }
}

TEST_F(ImageTest, EveryDwarfVersionAndPackaging) {
  for (const char* name : {"dwarf3.elf", "dwarf4.elf", "split.elf", "zlib.elf", "linked.elf"}) {
    SCOPED_TRACE(name);
    const Image image = open(name);
    EXPECT_TRUE(image.warnings().empty());
    expect_inlines(image);
  }
}

TEST_F(ImageTest, ZstdSectionsAreReadOrWarnedOf) {
  const Image image = open("zstd.elf");
  if (image.has_dwarf()) {
    expect_inlines(image);
  } else {
    EXPECT_TRUE(warns_of(image, "zstd"));
    EXPECT_EQ(locate(image, address(image, "spot_inlined")).frames.at(0).function, "outer");
  }
#if !_ELFUTILS_PREREQ(0, 189)
  EXPECT_FALSE(image.has_dwarf());
#endif
}

TEST_F(ImageTest, ADebugFileIsFoundByBuildId) {
  const fs::path folder = fs::temp_directory_path() / ("qperf-build-id-" + std::to_string(getpid()));
  std::string id;
  const Image stripped = open("unlinked.elf");
  for (const std::byte b : stripped.build_id()) {
    constexpr char kDigits[] = "0123456789abcdef";
    id += kDigits[std::to_integer<unsigned>(b) >> 4];
    id += kDigits[std::to_integer<unsigned>(b) & 15];
  }
  const fs::path below = folder / ".build-id" / id.substr(0, 2);
  fs::create_directories(below);
  fs::copy_file(fixture("unlinked.elf"), folder / "kernel.elf");
  fs::copy_file(fixture("separate.debug"), below / (id.substr(2) + ".debug"));
  {
    const auto image = Image::open((folder / "kernel.elf").string());
    ASSERT_TRUE(image.ok());
    EXPECT_TRUE(image->warnings().empty());
    expect_inlines(*image);
  }
  // Another build's file under that name is not taken.
  fs::copy_file(fixture("dwarf4.elf"), below / (id.substr(2) + ".debug"), fs::copy_options::overwrite_existing);
  const auto image = Image::open((folder / "kernel.elf").string());
  ASSERT_TRUE(image.ok());
  EXPECT_FALSE(image->has_dwarf());
  EXPECT_TRUE(warns_of(*image, "another build-id"));
  fs::remove_all(folder);
}

TEST_F(ImageTest, ADebugLinkWithTheWrongChecksumIsNotTaken) {
  const fs::path folder = fs::temp_directory_path() / ("qperf-debuglink-" + std::to_string(getpid()));
  fs::create_directories(folder);
  fs::copy_file(fixture("linked.elf"), folder / "kernel.elf");
  fs::copy_file(fixture("dwarf4.elf"), folder / "separate.debug");
  const auto image = Image::open((folder / "kernel.elf").string());
  ASSERT_TRUE(image.ok());
  EXPECT_FALSE(image->has_dwarf());
  EXPECT_TRUE(warns_of(*image, "checksum"));
  fs::remove_all(folder);
}

TEST_F(ImageTest, AStrippedFileSaysSo) {
  const Image image = open("unlinked.elf");
  EXPECT_FALSE(image.has_dwarf());
  EXPECT_TRUE(warns_of(image, "stripped"));
  const Location location = locate(image, image.text_ranges().front().first);
  EXPECT_EQ(location.source, NameSource::kNone);
  EXPECT_TRUE(location.frames.empty());
}

TEST_F(ImageTest, TheSymbolTableAloneGivesTheFunction) {
  const Image image = open("symtab.elf");
  EXPECT_TRUE(warns_of(image, "no debug information"));
  const Location location = locate(image, address(image, "spot_inlined"));
  EXPECT_EQ(location.source, NameSource::kSymbolTable);
  ASSERT_EQ(location.frames.size(), 1U);
  EXPECT_EQ(location.frames[0].function, "outer");
  EXPECT_EQ(location.frames[0].line, 0U);
}

TEST_F(ImageTest, LabelsBySizeThenByNearness) {
  for (const auto& info : guest::all_targets()) {
    SCOPED_TRACE(info.name);
    const Image image = open("calls-" + std::string(info.name) + ".elf");
    const int64_t step = info.instruction_alignment_bytes;
    EXPECT_EQ(locate(image, address(image, "inside_bare")).frames.at(0).function, "bare");
    EXPECT_EQ(locate(image, address(image, "sized_label") + step).frames.at(0).function, "sized_label");
    EXPECT_EQ(locate(image, address(image, "unsized_label") + step).frames.at(0).function, "unsized_label");
    EXPECT_EQ(image.symbol_address(".Lnever_a_name"), std::nullopt);
    EXPECT_EQ(image.symbol_address("$x_never_a_name"), std::nullopt);
    // Assembly has a line table.
    const Location framed = locate(image, address(image, "saved_0"));
    EXPECT_EQ(framed.frames.at(0).function, "framed");
    EXPECT_TRUE(framed.frames[0].file.ends_with("calls.S")) << framed.frames[0].file;
    EXPECT_GT(framed.frames[0].line, 100U);
  }
}

TEST_F(ImageTest, CppNamesAreDemangled) {
  const Image image = open("names.elf");
  const Location bump = locate(image, address(image, "spot_bump"));
  ASSERT_EQ(bump.frames.size(), 2U);
  EXPECT_EQ(bump.frames[0].function, "demo::Counter<int>::bump(int)");
  EXPECT_EQ(bump.frames[0].line, line_of("names.cpp", "bump"));
  EXPECT_EQ(bump.frames[1].function, "demo::count(demo::Counter<int>&)");
  EXPECT_EQ(bump.frames[1].linkage, "_ZN4demo5countERNS_7CounterIiEE");
  EXPECT_EQ(bump.frames[1].line, line_of("names.cpp", "count"));
  EXPECT_EQ(locate(image, address(image, "spot_hidden")).frames.at(0).function, "demo::(anonymous namespace)::hidden(int)");
}

TEST_F(ImageTest, AFunctionInsideAFunctionIsFound) {
  if (!fs::exists(fixture("nested.elf"))) GTEST_SKIP() << "needs gcc on x86_64: GNU C's nested functions";
  const Image image = open("nested.elf");
  const Location nested = locate(image, address(image, "spot_nested"));
  EXPECT_EQ(nested.source, NameSource::kDwarf);
  EXPECT_EQ(nested.frames.at(0).function, "nested");
  EXPECT_EQ(nested.frames.at(0).line, line_of("nested.c", "nested"));
}

TEST_F(ImageTest, ManyAddressesKeepTheirOrderAndDuplicates) {
  const Image image = open("inlines-riscv64.elf");
  const std::vector<GuestVa> asked{address(image, "with_frame"), GuestVa{0x1234}, address(image, "leaf"),
                                   address(image, "with_frame")};
  const auto found = image.symbolize(asked);
  ASSERT_TRUE(found.ok());
  ASSERT_EQ(found->size(), 4U);
  EXPECT_EQ(found->at(0).frames.back().function, "with_frame");
  EXPECT_EQ(found->at(1).source, NameSource::kNone);
  EXPECT_EQ(found->at(2).frames.back().function, "leaf");
  EXPECT_EQ(found->at(3).frames.back().function, "with_frame");
}

TEST_F(ImageTest, BytesAndTextRanges) {
  const Image image = open("inlines-aarch64.elf");
  ASSERT_EQ(image.text_ranges().size(), 1U);
  const GuestRange text = image.text_ranges()[0];
  EXPECT_EQ(text.first.raw, 0xffffffff80200000U);
  EXPECT_TRUE(image.is_text(text.first));
  EXPECT_TRUE(image.is_text(text.last));
  EXPECT_FALSE(image.is_text(text.first - 1));
  EXPECT_FALSE(image.is_text(text.last + 1));
  const auto nop = image.bytes_at(address(image, "spot_leaf"), 4);
  const std::array<std::byte, 4> expected{std::byte{0x1f}, std::byte{0x20}, std::byte{0x03}, std::byte{0xd5}};
  EXPECT_TRUE(std::ranges::equal(nop, expected));
  EXPECT_EQ(image.bytes_at(text.last, 100).size(), 1U);
  EXPECT_TRUE(image.bytes_at(text.last + 1, 100).empty());
  EXPECT_TRUE(image.bytes_at(GuestVa{0}, 100).empty());
}

TEST_F(ImageTest, WhatIsNoKernelElfIsRefusedWithTheWayOut) {
  const auto flat = Image::open(fixture("flat.bin"));
  ASSERT_FALSE(flat.ok());
  EXPECT_NE(flat.error().message.find("give the ELF"), std::string::npos) << flat.error().message;
  const auto absent = Image::open(fixture("absent.elf"));
  ASSERT_FALSE(absent.ok());
  EXPECT_EQ(absent.error().code, ErrorCode::kNotFound);
  const auto object = Image::open(fixture("inlines-aarch64.o"));
  ASSERT_FALSE(object.ok());
  EXPECT_EQ(object.error().code, ErrorCode::kUnsupported);
  const auto folder = Image::open(QPERF_SYMBOL_FIXTURES);
  ASSERT_FALSE(folder.ok());
}

TEST_F(ImageTest, AnotherMachineHasNoTarget) {
  const Image image = open("other.elf");
  EXPECT_EQ(image.target(), std::nullopt);
  EXPECT_FALSE(image.follows_call(address(image, "spot_body")));
}

}  // namespace
}  // namespace qperf::symbols
