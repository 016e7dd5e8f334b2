#include "capture/payload_reader.h"

#include <gtest/gtest.h>

#include <random>
#include <vector>

namespace qperf::capture {
namespace {

TEST(PayloadReader, PassingOverVarintsEndsWhereReadingThemDoes) {
  std::mt19937_64 random(3);
  for (int round = 0; round < 300; ++round) {
    ByteWriter out;
    const size_t count = random() % 40;
    for (size_t i = 0; i < count; ++i) out.varint(random() >> (random() % 64));
    const size_t tail = random() % 12;
    for (size_t i = 0; i < tail; ++i) out.u8(0x80);
    PayloadReader in(out.view());
    in.skip_varints(count);
    EXPECT_TRUE(in.ok());
    EXPECT_EQ(in.remaining(), tail);
  }
}

TEST(PayloadReader, PassingOverChecksWhatReadingWould) {
  std::mt19937_64 random(4);
  size_t refused = 0;
  for (int round = 0; round < 3000; ++round) {
    // Long runs of continuation bytes: numbers of nine and ten bytes, too long ones, and ones that are cut.
    std::vector<std::byte> bytes(random() % 60);
    for (auto& byte : bytes) byte = static_cast<std::byte>(random() % 6 == 0 ? random() % 4 : 0x80 | (random() % 4));
    const size_t count = random() % 8;
    PayloadReader read(bytes);
    for (size_t i = 0; i < count; ++i) (void)read.varint();
    PayloadReader passed(bytes);
    passed.skip_varints(count);
    ASSERT_EQ(passed.ok(), read.ok());
    ASSERT_EQ(passed.remaining(), read.remaining());
    refused += read.ok() ? 0 : 1;
  }
  EXPECT_GT(refused, 100U);
  EXPECT_LT(refused, 2900U);
}

}  // namespace
}  // namespace qperf::capture
