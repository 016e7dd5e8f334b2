#include "analysis/site_table.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "capture/sample_codec.h"

namespace qperf::analysis {
namespace {

std::vector<capture::Site> random_sites(size_t count) {
  std::mt19937_64 random(5);
  std::vector<capture::Site> sites(count);
  for (auto& site : sites) {
    site.pc.raw = random();
    site.block_insns = static_cast<uint32_t>(random() % 100);
    site.stop = static_cast<capture::StopReason>(random() % capture::kStopReasonCount);
    if (random() % 2 == 0) site.link = GuestVa{random()};
    for (size_t i = random() % 30; i > 0; --i) site.frames.push_back(GuestVa{random() >> random() % 64});
  }
  return sites;
}

/// Interns the sites as they come out of an encoded chunk.
std::vector<SiteId> intern_chunk(SiteTable& table, const std::vector<capture::Site>& sites) {
  ByteWriter payload;
  capture::encode_samples({.vcpu = VcpuIndex{0}, .sites = sites, .samples = {}}, payload);
  capture::SampleDecoder decoder;
  const auto packed = decoder.decode(payload.view(), VcpuIndex{0}, 0);
  EXPECT_TRUE(packed.ok());
  std::vector<uint32_t> numbers;
  if (packed) table.intern(packed->sites, numbers);
  std::vector<SiteId> ids;
  for (const uint32_t number : numbers) ids.push_back(SiteId{number});
  return ids;
}

TEST(SiteTable, ASiteKeepsItsIdInWhateverChunkItStands) {
  const auto sites = random_sites(5000);
  SiteTable table;
  const auto ids = intern_chunk(table, sites);
  ASSERT_EQ(ids.size(), sites.size());
  EXPECT_EQ(table.size(), sites.size());
  capture::Site back;
  for (size_t i = 0; i < sites.size(); ++i) {
    table.read(ids[i], back);
    ASSERT_EQ(back, sites[i]);
  }
  // In another order the pcs' differences differ.
  const auto reversed = intern_chunk(table, {sites.rbegin(), sites.rend()});
  EXPECT_TRUE(std::equal(ids.begin(), ids.end(), reversed.rbegin(), reversed.rend()));
  for (const size_t i : {size_t{0}, size_t{77}, size_t{4999}}) EXPECT_EQ(table.intern(sites[i]), ids[i]);
  EXPECT_EQ(table.size(), sites.size());
}

TEST(SiteTable, SitesThatDifferInOneFieldDiffer) {
  const capture::Site site{
      .pc = GuestVa{0x1000}, .block_insns = 4, .stop = capture::StopReason::kBottom, .link = GuestVa{0}, .frames = {GuestVa{7}}};
  std::vector<capture::Site> sites(7, site);
  sites[1].pc.raw = 0x1002;
  sites[2].block_insns = 5;
  sites[3].stop = capture::StopReason::kLeftStack;
  sites[4].link.reset();
  sites[5].frames.front().raw = 8;
  sites[6].frames.clear();
  SiteTable table;
  intern_chunk(table, sites);
  EXPECT_EQ(table.size(), sites.size());
}

TEST(SiteTable, ManySitesAreRefusedBeforeTheyTakeMemory) {
  const auto sites = random_sites(5000);
  SiteTable roomy;
  intern_chunk(roomy, sites);
  EXPECT_FALSE(roomy.full());
  SiteTable small(20'000);
  const auto ids = intern_chunk(small, sites);
  EXPECT_TRUE(small.full());
  EXPECT_LT(small.size(), sites.size() / 5);
  for (const SiteId id : ids) EXPECT_LT(id.raw, small.size());  // none that read() does not know
  SiteTable tiny(1);
  EXPECT_EQ(tiny.intern(sites[0]), SiteId{});
  EXPECT_TRUE(tiny.full());
}

}  // namespace
}  // namespace qperf::analysis
