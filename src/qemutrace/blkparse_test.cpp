#include "qemutrace/blkparse.h"

#include <gtest/gtest.h>

#include "qemutrace/layers.h"

namespace qperf::qemutrace {
namespace {

// As blkparse 1.2 prints them: requests, a plug, a message, an error code, a remap, the summary.
constexpr std::string_view kText =
    "  8,0    3        1     0.000000000   697  G   W 223490 + 8 [kjournald]\n"
    "  8,0    3        2     0.000001829   697  P   N [kjournald]\n"
    "  8,0    3        3     0.000002197   697  Q  WS 223490 + 8 [kjournald]\n"
    "  8,0    1       11     1.500005330     0  C RAM 223498 + 16 [0]\n"
    "  8,1    1       12     1.500006000    42  A FWFS 2048 + 1 <- (8,1) 0\n"
    "  8,0    3        0     0.000003000     0  m   N cfq697 insert_request\n"
    "  8,0    3        4     0.000004000   697  D  DS 1000 + 64 [two words]\n"
    "CPU3 (8,0):\n"
    " Reads Queued:           0,        0KiB\t Writes Queued:           1,        4KiB\n"
    "\n";

TEST(Blkparse, ReadsItsDefaultOutput) {
  const BlkTrace trace = parse_blkparse(kText);
  ASSERT_EQ(trace.events.size(), 5U);
  EXPECT_EQ(trace.other_events, 1U);  // the plug
  EXPECT_EQ(trace.other_lines, 4U);
  const BlkEvent& got = trace.events[0];
  EXPECT_EQ(got.action, 'G');
  EXPECT_TRUE(got.is_write && !got.is_read && !got.is_sync);
  EXPECT_EQ(got.device_major, 8U);
  EXPECT_EQ(got.sector, 223490U);
  EXPECT_EQ(got.sectors, 8U);
  EXPECT_TRUE(trace.events[1].is_sync);
  EXPECT_EQ(trace.events[2].time_ns, 1'500'005'330U);
  EXPECT_TRUE(trace.events[2].is_read && trace.events[2].is_readahead);
  EXPECT_EQ(trace.events[2].cpu, 1U);
  EXPECT_TRUE(trace.events[3].is_write && trace.events[3].is_flush);
  EXPECT_TRUE(trace.events[4].is_discard);
}

TEST(Blkparse, PassesOverWhatIsNoEvent) {
  for (const std::string_view line :
       {"", "8,0", "8,0 3 1 0.5 697 Q W 1 + 8", "8,0 3 1 0.000000000 697 Q ? 1 + 8 [x]", "x,0 3 1 0.000000000 697 Q W 1 + 8 [x]",
        "8,0 3 1 99999999999.000000000 697 Q W 1 + 8 [x]", "99999999999,0 3 1 0.000000000 697 Q W 1 + 8 [x]"})
    EXPECT_FALSE(parse_blkparse_line(line)) << line;
  const auto huge = parse_blkparse_line("8,0 3 1 0.000000000 697 Q W 18446744073709551615 + 8 [x]");
  EXPECT_TRUE(huge && !huge->has_extent);
}

Layer layer(std::initializer_list<LayerRequest> requests) { return {.name = "x", .requests = requests}; }

TEST(Layers, TellsWhatBecameOfEachRequest) {
  const Layer upper = layer({{100, true, 0, 8},      // the same below
                             {200, true, 8, 8},      // joined with the next
                             {210, true, 16, 8},     //
                             {300, false, 100, 32},  // in two pieces
                             {400, false, 500, 8},   // from a cache
                             {500, true, 0, 8}});    // the same extent again
  const Layer lower = layer({{1150, true, 2048, 8},
                             {1250, true, 2056, 16},
                             {1350, false, 2148, 16},
                             {1360, false, 2164, 16},
                             {1600, true, 2048, 8},
                             {1700, false, 9000, 8}});
  const LayerMatch match = match_layers(upper, lower, LayerClocks::kTwo, 2048);
  EXPECT_EQ(match.same, 2U);
  EXPECT_EQ(match.joined, 2U);
  EXPECT_EQ(match.split, 1U);
  EXPECT_EQ(match.missing, 1U);
  EXPECT_EQ(match.extra, 1U);
  EXPECT_EQ(match.reordered, 0U);
  EXPECT_EQ(match.least_difference_ns, 1050);
  EXPECT_EQ(match.delays_ns, (std::vector<uint64_t>{0, 50}));
}

TEST(Layers, CountsWhatOvertook) {
  const LayerMatch match = match_layers(layer({{1, true, 0, 8}, {2, true, 100, 8}, {3, true, 200, 8}}),
                                        layer({{1, true, 100, 8}, {2, true, 0, 8}, {3, true, 200, 8}}), LayerClocks::kTwo, 0);
  EXPECT_EQ(match.same, 3U);
  EXPECT_EQ(match.reordered, 1U);
}

TEST(Layers, PairsWithNothingEarlierOnOneClock) {
  const Layer upper = layer({{5'000'000, false, 0, 1}});
  const Layer lower = layer({{1'000'000, false, 0, 1}, {5'010'000, false, 0, 1}});
  const LayerMatch match = match_layers(upper, lower, LayerClocks::kOne, 0);
  EXPECT_EQ(match.same, 1U);
  EXPECT_EQ(match.extra, 1U);
  EXPECT_EQ(match.least_difference_ns, 10'000);
}

TEST(Layers, DescribesAPattern) {
  const LayerPattern pattern(layer({{1, false, 0, 8}, {2, true, 100, 1}, {3, false, 8, 8}, {4, false, 24, 8}}));
  EXPECT_EQ(pattern.reads, 3U);
  EXPECT_EQ(pattern.writes, 1U);
  EXPECT_EQ(pattern.sectors, 25U);
  EXPECT_EQ(pattern.sequential, 1U);
  EXPECT_EQ(pattern.sizes, (std::map<uint64_t, uint64_t>{{1, 1}, {8, 3}}));
}

}  // namespace
}  // namespace qperf::qemutrace
