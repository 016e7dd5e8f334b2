#include "capture/legacy.h"

#include <gtest/gtest.h>

#include <utility>

#include "capture/limits.h"
#include "capture/reader.h"

namespace qperf::capture {
namespace {

using LegacyRecord = std::pair<uint32_t, std::vector<uint64_t>>;

std::vector<std::byte> file_of(const std::vector<int>& records) {
  std::vector<std::byte> bytes;
  for (const char byte : {'Q', 'P', 'E', 'R', 'F', '\0', '\1'}) bytes.push_back(static_cast<std::byte>(byte));
  for (const int byte : records) bytes.push_back(static_cast<std::byte>(byte));
  return bytes;
}

std::pair<LegacySummary, std::vector<LegacyRecord>> read(const std::vector<std::byte>& bytes) {
  std::vector<LegacyRecord> records;
  const auto summary = read_legacy_capture(bytes, "old.bin", [&](VcpuIndex vcpu, std::span<const GuestVa> addresses) {
    records.emplace_back(vcpu.raw, std::vector<uint64_t>());
    for (const GuestVa address : addresses) records.back().second.push_back(address.raw);
    return Result<void>();
  });
  EXPECT_TRUE(summary) << summary.error().message;
  return {summary ? *summary : LegacySummary{}, records};
}

TEST(Legacy, NumbersOfEverySize) {
  const auto [summary, records] = read(file_of({0,   0,                                                          //
                                                250, 1,   250,                                                   //
                                                251, 251, 0,   2,    251, 0xff, 0xff, 252,  0,    0,    1,   0,  //
                                                3,   1,   253, 0x10, 0,   0x20, 0x80, 0xff, 0xff, 0xff, 0xff}));
  EXPECT_FALSE(summary.cut);
  EXPECT_EQ(summary.samples, 4U);
  const std::vector<LegacyRecord> expected = {{0, {}}, {250, {250}}, {251, {0xffff, 0x10000}}, {3, {0xffffffff80200010}}};
  EXPECT_EQ(records, expected);
}

TEST(Legacy, EveryPrefixGivesItsWholeRecords) {
  std::vector<int> bytes;
  for (int i = 0; i < 5; ++i) bytes.insert(bytes.end(), {i, 2, 253, i, 2, 3, 4, 5, 6, 7, 8, 252, 1, 2, 3, 4});
  const auto whole = file_of(bytes);
  for (size_t size = 7; size <= whole.size(); ++size) {
    const auto [summary, records] = read({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size)});
    EXPECT_EQ(records.size(), (size - 7) / 16);
    EXPECT_EQ(summary.cut, (size - 7) % 16 != 0);
  }
}

TEST(Legacy, WhatIsNoRecordEndsTheReading) {
  for (const auto& bytes :
       std::vector<std::vector<int>>{{0, 253, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},  // a length that lies
                                     {0, 252, 0, 0, 0, 1},                                      //
                                     {254, 0, 0},                                               // a 128-bit number
                                     {0, 1, 255},                                               // no number at all
                                     {251, 0, 0x10, 0}}) {                                      // vCPU 4096
    const auto [summary, records] = read(file_of(bytes));
    EXPECT_TRUE(summary.cut);
    EXPECT_TRUE(records.empty());
  }
}

TEST(Legacy, TheMagicDecides) {
  EXPECT_TRUE(is_legacy_capture(file_of({})));
  EXPECT_FALSE(read(file_of({})).first.cut);
  const std::vector<std::byte> other(20);
  EXPECT_FALSE(is_legacy_capture(other));
  const auto nothing = [](VcpuIndex, std::span<const GuestVa>) { return Result<void>(); };
  EXPECT_FALSE(read_legacy_capture(other, "other", nothing));
  EXPECT_FALSE(read_legacy_capture(testing::TempDir() + "/absent.bin", nothing));
  // And the reader of version 5 says what such a file is.
  EXPECT_EQ(read_capture(file_of({0, 0}), "old.bin", Handlers{}).error().code, ErrorCode::kUnsupported);
}

TEST(Legacy, AHandlersErrorEndsTheReading) {
  const auto stopped = read_legacy_capture(file_of({0, 0, 0, 0}), "old.bin", [](VcpuIndex, std::span<const GuestVa>) {
    return Result<void>(Error{ErrorCode::kIo, "no more"});
  });
  EXPECT_EQ(stopped.error().message, "old.bin: no more");
}

}  // namespace
}  // namespace qperf::capture
