#include <gtest/gtest.h>

#include "capture/limits.h"
#include "tools/qperf/top/sample_window.h"
#include "tools/qperf/top/tick_history.h"

namespace qperf::tools {
namespace {

/// `sites` sites of `frames` frames each, of which `used` have a sample.
capture::SampleChunk chunk_of(uint32_t sites, size_t frames, uint32_t used, WallNs wall_ns) {
  capture::SampleChunk chunk;
  for (uint32_t i = 0; i < sites; ++i) {
    capture::Site& site = chunk.sites.emplace_back();
    site.pc = GuestVa{i};
    site.frames.assign(frames, GuestVa{1});
  }
  for (uint32_t i = 0; i < used; ++i) chunk.samples.push_back({.site = sites - 1 - i, .wall_ns = wall_ns, .weight = 1});
  return chunk;
}

TEST(SampleWindow, KeepsNoSiteThatNothingUses) {
  SampleWindow window;
  window.keep(chunk_of(1000, 100, 2, 5));
  window.keep(chunk_of(1000, 100, 0, 6));
  ASSERT_EQ(window.chunks().size(), 1U);
  EXPECT_EQ(window.samples(), 2U);
  EXPECT_EQ(window.frames(), 2U * 101);
  const capture::SampleChunk& kept = window.chunks().front();
  ASSERT_EQ(kept.sites.size(), 2U);
  EXPECT_EQ(kept.sites[kept.samples[0].site].pc, GuestVa{999});
  EXPECT_EQ(kept.sites[kept.samples[1].site].pc, GuestVa{998});
}

TEST(SampleWindow, IsBoundedByFramesHoweverFewTheSamples) {
  SampleWindow window;
  // As a small file can have them: each chunk unpacks to the most frames that one may have.
  constexpr auto kSites = static_cast<uint32_t>(capture::kMaxFramesPerChunk / capture::kMaxFramesPerSample);
  for (WallNs i = 0; i < 50; ++i) {
    window.keep(chunk_of(kSites, capture::kMaxFramesPerSample - 1, kSites, i));
    ASSERT_LE(window.frames(), WindowBounds().frames);
    ASSERT_LE(window.bytes(), WindowBounds().bytes);
  }
  EXPECT_EQ(window.chunks().size(), WindowBounds().frames / capture::kMaxFramesPerChunk);
  EXPECT_EQ(window.dropped_until(), 47U);
}

TEST(SampleWindow, IsBoundedBySamplesAndBytes) {
  SampleWindow few({.samples = 10, .frames = 1000, .bytes = 1 << 20});
  for (WallNs i = 0; i < 9; ++i) few.keep(chunk_of(1, 1, 1, i));
  EXPECT_FALSE(few.dropped_until());
  few.keep(chunk_of(2, 1, 2, 9));
  EXPECT_EQ(few.samples(), 10U);
  EXPECT_EQ(few.dropped_until(), 0U);
  SampleWindow small({.samples = 1000, .frames = 1000, .bytes = 2000});
  for (WallNs i = 0; i < 100; ++i) {
    small.keep(chunk_of(1, 1, 1, i));
    ASSERT_LE(small.bytes(), 2000U);
  }
  small.keep(chunk_of(1, 300, 1, 100));
  EXPECT_EQ(small.chunks().size(), 1U) << "what is newest stays";
}

TEST(SampleWindow, ForgetsWhatIsOld) {
  SampleWindow window;
  for (WallNs i = 0; i < 10; ++i) window.keep(chunk_of(3, 2, 3, i));
  window.forget_before(7);
  EXPECT_EQ(window.samples(), 9U);
  EXPECT_EQ(window.frames(), 27U);
  EXPECT_FALSE(window.dropped_until()) << "that is no loss";
  window.forget_before(100);
  EXPECT_EQ(window.bytes(), 0U);
}

capture::Ledger ledger_at(WallNs wall_ns, uint64_t ticks) {
  capture::Ledger ledger;
  ledger.wall_ns = wall_ns;
  capture::VcpuLedger& vcpu = ledger.vcpus.emplace_back();
  vcpu.vcpu = VcpuIndex{3};
  vcpu.ticks.issued = vcpu.ticks.user = ticks;
  return ledger;
}

uint64_t user_ticks(const TickHistory& history) { return history.ticks_of(history.newest().vcpus.front()).user; }

TEST(TickHistory, CountsFromTheLastLedgerBeforeTheWindow) {
  TickHistory history(10'000);
  history.note(ledger_at(1'000, 5));
  EXPECT_EQ(user_ticks(history), 5U);
  for (WallNs wall = 2'000; wall <= 30'000; wall += 1'000) history.note(ledger_at(wall, wall / 100));
  EXPECT_EQ(user_ticks(history), 100U);
  history.note(ledger_at(30'000, 350));  // the trailer's stands at the last one's time
  EXPECT_EQ(user_ticks(history), 150U);
}

TEST(TickHistory, IsBoundedWhateverTheOrderOfLedgers) {
  TickHistory history(10'000);
  for (WallNs i = 0; i < 100'000; ++i) {
    history.note(ledger_at(i % 2 == 0 ? 1'000'000 + i / 2 : 5, i));
    ASSERT_LE(history.moments(), 70U);
  }
  for (WallNs i = 0; i < 100'000; ++i) {
    history.note(ledger_at(2'000'000 + i, i));
    ASSERT_LE(history.moments(), 70U);
  }
}

}  // namespace
}  // namespace qperf::tools
