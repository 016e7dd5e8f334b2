#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>

#include "capture/format.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

/// Behind the header's metadata, which is the first chunk.
size_t first_chunk_end(const std::vector<std::byte>& capture) {
  size_t stored_bytes = 0;
  for (size_t i = 4; i-- > 0;) stored_bytes = stored_bytes << 8 | std::to_integer<size_t>(capture[kFileHeaderBytes + 12 + i]);
  return kFileHeaderBytes + kChunkHeaderBytes + stored_bytes;
}

TEST(Follower, GivesEachChunkOnceHoweverTheFileGrows) {
  const std::vector<std::byte> whole = example_capture();
  const std::string path = testing::TempDir() + "/qperf_follower.bin";
  for (const size_t step : {size_t{1}, size_t{7}, size_t{48}, whole.size()}) {
    std::FILE* file = std::fopen(path.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    // The file header and the first chunk: without them there is nothing to follow.
    size_t written = first_chunk_end(whole);
    std::fwrite(whole.data(), 1, written, file);
    std::fflush(file);
    Collected seen;
    auto follower = Follower::open(path, collect_into(seen));
    ASSERT_TRUE(follower) << follower.error().message;
    const Summary* summary = nullptr;
    for (;;) {
      const auto more = follower->read_more();
      ASSERT_TRUE(more) << more.error().message;
      summary = *more;
      EXPECT_EQ(summary->header.freq_hz, 99U);
      EXPECT_EQ(summary->integrity.damaged_chunks, 0U);
      EXPECT_EQ(summary->integrity.skipped_bytes, 0U);
      if (written == whole.size()) break;
      EXPECT_FALSE(summary->trailer);
      const size_t next = std::min(step, whole.size() - written);
      std::fwrite(whole.data() + written, 1, next, file);
      std::fflush(file);
      written += next;
    }
    std::fclose(file);
    EXPECT_TRUE(summary->integrity.whole());
    ASSERT_EQ(seen.samples.size(), 1U);
    EXPECT_EQ(seen.samples[0].samples.size(), 2U);
    EXPECT_EQ(seen.ledgers.size(), 1U);
  }
  std::remove(path.c_str());
}

TEST(Follower, RefusesWhatIsNoCapture) {
  EXPECT_FALSE(Follower::open("/no/such/file", {}));
  EXPECT_FALSE(Follower::open("/dev/null", {}));
}

}  // namespace
}  // namespace qperf::capture
