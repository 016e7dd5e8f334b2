#include "symbols/slide.h"

#include <elf.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <random>

namespace qperf::symbols {
namespace {

constexpr uint64_t kLinkAddress = 0xffff800008000000;
constexpr size_t kTextBytes = 4 << 20;

/// An ELF that is nothing but one executable segment of pseudo-random bytes.
class SlideTest : public testing::Test {
 protected:
  static std::vector<std::byte> text(unsigned seed, size_t size) {
    std::vector<std::byte> bytes(size);
    std::mt19937 random(seed);
    for (auto& b : bytes) b = static_cast<std::byte>(random() & 0xff);
    return bytes;
  }

  Image image_of(const std::vector<std::byte>& bytes, uint64_t address = kLinkAddress) {
    Elf64_Ehdr header{};
    std::memcpy(header.e_ident, ELFMAG, SELFMAG);
    header.e_ident[EI_CLASS] = ELFCLASS64;
    header.e_ident[EI_DATA] = ELFDATA2LSB;
    header.e_ident[EI_VERSION] = EV_CURRENT;
    header.e_type = ET_EXEC;
    header.e_machine = EM_AARCH64;
    header.e_version = EV_CURRENT;
    header.e_phoff = sizeof(header);
    header.e_ehsize = sizeof(header);
    header.e_phentsize = sizeof(Elf64_Phdr);
    header.e_phnum = 1;
    Elf64_Phdr segment{};
    segment.p_type = PT_LOAD;
    segment.p_flags = PF_R | PF_X;
    segment.p_offset = sizeof(header) + sizeof(segment);
    segment.p_vaddr = address;
    segment.p_filesz = segment.p_memsz = bytes.size();
    const auto path =
        std::filesystem::temp_directory_path() / ("qperf-slide-" + std::to_string(getpid()) + "-" + std::to_string(files_++));
    std::ofstream file(path, std::ios::binary);
    file.write(reinterpret_cast<const char*>(&header), sizeof(header));
    file.write(reinterpret_cast<const char*>(&segment), sizeof(segment));
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    file.close();
    auto image = Image::open(path.string());
    std::filesystem::remove(path);
    EXPECT_TRUE(image.ok());
    return *std::move(image);
  }

  /// `count` blocks of 4 to 32 bytes from `bytes`, as they would be seen under `slide`.
  static std::vector<TextSighting> sightings_of(const std::vector<std::byte>& bytes, uint64_t slide, size_t count,
                                                WallNs from_ns, uint64_t address = kLinkAddress) {
    std::mt19937 random(99);
    std::vector<TextSighting> sightings;
    for (size_t i = 0; i < count; ++i) {
      const size_t size = 4 + 4 * (random() % 8);
      const size_t offset = 4 * (random() % ((bytes.size() - size) / 4));
      sightings.push_back({from_ns + i, GuestVa{address + offset + slide}, std::span(bytes).subspan(offset, size)});
    }
    return sightings;
  }

  int files_ = 0;
};

TEST_F(SlideTest, AnUnslidImageFitsWithSlideZero) {
  const auto bytes = text(1, kTextBytes);
  const auto verdict = vote_slide(image_of(bytes), sightings_of(bytes, 0, 300, 5));
  ASSERT_TRUE(verdict.fits);
  ASSERT_EQ(verdict.eras.size(), 1U);
  EXPECT_EQ(verdict.eras[0].slide_bytes, 0U);
  EXPECT_EQ(verdict.eras[0].from_ns, 0U);
  EXPECT_EQ(verdict.matched, 300U);
  EXPECT_EQ(verdict.considered, 300U);
}

TEST_F(SlideTest, ASlideIsFoundThoughTheKernelPatchedATenthOfItsText) {
  const auto bytes = text(1, kTextBytes);
  auto sightings = sightings_of(bytes, 0x39ac50410000, 300, 5);
  const auto other = text(2, 64);
  for (size_t i = 0; i < sightings.size(); i += 10) sightings[i].bytes = std::span(other).first(sightings[i].bytes.size());
  const auto verdict = vote_slide(image_of(bytes), sightings);
  ASSERT_TRUE(verdict.fits);
  ASSERT_EQ(verdict.eras.size(), 1U);
  EXPECT_EQ(verdict.eras[0].slide_bytes, 0x39ac50410000U);
  EXPECT_EQ(verdict.matched, 270U);
  EXPECT_EQ(verdict.considered, 300U);
}

TEST_F(SlideTest, HalfOfTheSightingsDecides) {
  const auto bytes = text(1, kTextBytes);
  const auto image = image_of(bytes);
  const auto other = text(2, 64);
  const auto verdict_with = [&](size_t patched) {
    auto sightings = sightings_of(bytes, 0x39ac50410000, 400, 5);
    for (size_t i = 0; i < patched; ++i) sightings[i * 3 % 400].bytes = std::span(other).first(sightings[i * 3 % 400].bytes.size());
    return vote_slide(image, sightings);
  };
  EXPECT_TRUE(verdict_with(200).fits);
  EXPECT_EQ(verdict_with(200).matched, 200U);
  EXPECT_FALSE(verdict_with(201).fits);
  EXPECT_EQ(verdict_with(201).matched, 199U);
}

TEST_F(SlideTest, ARebootStartsANewEra) {
  const auto bytes = text(1, kTextBytes);
  auto sightings = sightings_of(bytes, 0x39ac50410000, 100, 1000);
  for (const auto& later : sightings_of(bytes, 0x58bdea210000, 80, 90'000)) sightings.push_back(later);
  const auto verdict = vote_slide(image_of(bytes), sightings);
  ASSERT_TRUE(verdict.fits);
  ASSERT_EQ(verdict.eras.size(), 2U);
  EXPECT_EQ(verdict.eras[0].slide_bytes, 0x39ac50410000U);
  EXPECT_EQ(verdict.eras[0].matched, 100U);
  EXPECT_EQ(verdict.eras[1].slide_bytes, 0x58bdea210000U);
  EXPECT_EQ(verdict.eras[1].from_ns, 90'000U);
  EXPECT_EQ(verdict.eras[1].matched, 80U);
}

TEST_F(SlideTest, AnotherKernelIsRefused) {
  const auto bytes = text(1, kTextBytes);
  const auto verdict = vote_slide(image_of(text(3, kTextBytes)), sightings_of(bytes, 0x39ac50410000, 300, 5));
  EXPECT_FALSE(verdict.fits);
  EXPECT_LT(verdict.matched, 10U);
}

TEST_F(SlideTest, AnotherKernelThatSharesSomeCodeIsRefused) {
  const auto bytes = text(1, kTextBytes);
  auto other = text(3, kTextBytes);
  std::copy_n(bytes.begin(), kTextBytes / 4, other.begin());
  const auto verdict = vote_slide(image_of(other), sightings_of(bytes, 0x10000, 300, 5));
  EXPECT_FALSE(verdict.fits);
  EXPECT_LT(verdict.matched, 110U);
}

TEST_F(SlideTest, ATinyImageThatExplainsTwoSightingsIsRefused) {
  const auto bytes = text(1, kTextBytes);
  const std::vector<std::byte> tiny(bytes.begin(), bytes.begin() + 65536);
  const auto verdict = vote_slide(image_of(tiny), sightings_of(bytes, 0, 300, 5));
  EXPECT_FALSE(verdict.fits);
}

TEST_F(SlideTest, ModuleCodeIsNotConsidered) {
  const auto bytes = text(1, kTextBytes);
  const auto module = text(4, 1 << 20);
  auto sightings = sightings_of(bytes, 0x20000, 100, 0);
  for (const auto& outside : sightings_of(module, 0, 100, 100, 0xffffffc012340000)) sightings.push_back(outside);
  const auto verdict = vote_slide(image_of(bytes), sightings);
  ASSERT_TRUE(verdict.fits);
  EXPECT_EQ(verdict.eras.size(), 1U);
  EXPECT_EQ(verdict.considered, 100U);
  EXPECT_EQ(verdict.matched, 100U);
}

TEST_F(SlideTest, ASlideOutOfTheUpperHalfIsNoCandidate) {
  const auto bytes = text(1, kTextBytes);
  const auto verdict = vote_slide(image_of(bytes), sightings_of(bytes, 0x80200000 - kLinkAddress, 50, 0));
  EXPECT_FALSE(verdict.fits);
  EXPECT_EQ(verdict.matched, 0U);
}

TEST_F(SlideTest, AnImageThatIsLinkedLowFitsUnslid) {
  const auto bytes = text(1, kTextBytes);
  EXPECT_TRUE(vote_slide(image_of(bytes, 0x80200000), sightings_of(bytes, 0, 50, 0, 0x80200000)).fits);
}

TEST_F(SlideTest, TooFewSightingsSayNothing) {
  const auto bytes = text(1, kTextBytes);
  const auto verdict = vote_slide(image_of(bytes), sightings_of(bytes, 0x20000, kLeastSightings - 1, 0));
  EXPECT_TRUE(verdict.fits);
  EXPECT_EQ(verdict.considered, 0U);
  ASSERT_EQ(verdict.eras.size(), 1U);
  EXPECT_EQ(verdict.eras[0].slide_bytes, 0U);
}

}  // namespace
}  // namespace qperf::symbols
