#include "base/bytes.h"

#include <gtest/gtest.h>

#include <limits>

namespace qperf {
namespace {

TEST(Bytes, IntegersRoundTripLittleEndian) {
  ByteWriter out;
  out.u8(0x01);
  out.u16(0x0203);
  out.u32(0x04050607);
  out.u64(0x08090a0b0c0d0e0f);
  EXPECT_EQ(out.view()[1], std::byte{0x03});
  ByteReader in(out.view());
  EXPECT_EQ(in.u8(), 0x01);
  EXPECT_EQ(in.u16(), 0x0203);
  EXPECT_EQ(in.u32(), 0x04050607U);
  EXPECT_EQ(in.u64(), 0x08090a0b0c0d0e0fU);
  EXPECT_EQ(in.u8(), std::nullopt);
}

TEST(Bytes, VarintAndZigzagRoundTripTheExtremes) {
  for (const uint64_t value : {uint64_t{0}, uint64_t{127}, uint64_t{128}, std::numeric_limits<uint64_t>::max()}) {
    ByteWriter out;
    out.varint(value);
    EXPECT_EQ(ByteReader(out.view()).varint(), value);
  }
  for (const int64_t value :
       {int64_t{0}, int64_t{-1}, int64_t{1}, std::numeric_limits<int64_t>::min(), std::numeric_limits<int64_t>::max()}) {
    ByteWriter out;
    out.zigzag(value);
    EXPECT_EQ(ByteReader(out.view()).zigzag(), value);
  }
}

TEST(Bytes, VarintRefusesWhatDoesNotFit) {
  ByteWriter out;
  for (int i = 0; i < 9; ++i) out.u8(0xff);
  out.u8(0x02);
  EXPECT_EQ(ByteReader(out.view()).varint(), std::nullopt);
  ByteWriter cut;
  cut.u8(0x80);
  EXPECT_EQ(ByteReader(cut.view()).varint(), std::nullopt);
}

TEST(Bytes, ACountLargerThanTheRestIsRefused) {
  ByteWriter out;
  out.u32(1);
  ByteReader in(out.view());
  EXPECT_FALSE(in.bytes(5));
  EXPECT_TRUE(in.bytes(4));
}

}  // namespace
}  // namespace qperf
