#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "capture/legacy.h"
#include "capture/test_support.h"
#include "v5_contents.h"

namespace qperf::compat {
namespace {

std::string path_of(const char* name) { return std::string(QPERF_COMPAT_DIR) + "/" + name; }

TEST(Compat, Version5) {
  capture::Collected read;
  const auto summary = capture::read_capture(path_of("v5.qperf"), collect_into(read));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole()) << summary->integrity.first_damage;
  EXPECT_EQ(summary->integrity.unknown_chunks, 0U);

  auto header = v5_header();
  header.elf_path = "/later";
  EXPECT_EQ(summary->header, header);
  auto labels = v5_labels();
  labels["label.text"] = std::string("replaced");
  for (const auto& [key, value] : labels) EXPECT_EQ(summary->metadata.at(key), value) << key;
  EXPECT_EQ(summary->trailer, v5_trailer());

  EXPECT_EQ(read.samples, (std::vector{v5_samples(0), v5_samples(3)}));
  EXPECT_EQ(read.counts, v5_counts());
  EXPECT_EQ(read.fingerprints, v5_fingerprints());
  EXPECT_EQ(read.ledgers, (std::vector{v5_ledger(1), v5_ledger(2)}));
}

TEST(Compat, TheOlderProfiler) {
  using Record = std::pair<uint32_t, std::vector<GuestVa>>;
  std::vector<Record> records;
  const auto summary =
      capture::read_legacy_capture(path_of("legacy.bin"), [&](VcpuIndex vcpu, std::span<const GuestVa> addresses) {
        records.emplace_back(vcpu.raw, std::vector<GuestVa>(addresses.begin(), addresses.end()));
        return Result<void>();
      });
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_FALSE(summary->cut);
  const std::vector<Record> expected = {
      {0, {GuestVa{0xffffffff80200010}, GuestVa{0xffffffff80200200}, GuestVa{0xffffffff80200300}}},
      {1, {}},
      {300, {GuestVa{0x80200010}, GuestVa{0xfa}, GuestVa{0xfb}, GuestVa{0x1234}}},
  };
  EXPECT_EQ(records, expected);
}

}  // namespace
}  // namespace qperf::compat
