#include <gtest/gtest.h>

#include <random>

#include "capture/header_keys.h"
#include "capture/limits.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

class Random {
 public:
  explicit Random(uint64_t seed) : engine_(seed) {}

  uint64_t below(uint64_t limit) { return engine_() % limit; }
  /// Any size of number, the extremes often.
  uint64_t number() {
    if (below(8) == 0) return ~uint64_t{0};
    return engine_() >> below(64);
  }
  std::vector<std::byte> bytes(size_t count) {
    std::vector<std::byte> result(count);
    for (auto& byte : result) byte = static_cast<std::byte>(below(256));
    return result;
  }

 private:
  std::mt19937_64 engine_;
};

SampleChunk random_samples(Random& random, size_t sites, size_t samples) {
  SampleChunk chunk;
  chunk.vcpu = VcpuIndex{static_cast<uint32_t>(random.below(kMaxVcpus))};
  for (size_t i = 0; i < sites; ++i) {
    Site site;
    site.pc.raw = random.number();
    site.block_insns = static_cast<uint32_t>(random.number());
    site.stop = static_cast<StopReason>(random.below(kStopReasonCount));
    if (random.below(2) == 0) site.link = GuestVa{random.number()};
    for (size_t frames = random.below(20); frames > 0; --frames) site.frames.push_back(GuestVa{random.number()});
    chunk.sites.push_back(std::move(site));
  }
  for (size_t i = 0; i < samples; ++i)
    chunk.samples.push_back({.site = static_cast<uint32_t>(random.below(sites)),
                             .sequence = random.number(),
                             .wall_ns = random.number(),
                             .insns = random.number(),
                             .weight = random.number(),
                             .task = TaskId{random.number()}});
  return chunk;
}

Ledger random_ledger(Random& random) {
  Ledger ledger{random.number(), random.number(), random.number(), random.number(), {}};
  for (uint32_t i = 0; i < random.below(40); ++i) {
    VcpuLedger vcpu;
    vcpu.vcpu.raw = i * 100;
    vcpu.ticks = {random.number(), random.number(), random.number(), random.number(),
                  random.number(), random.number(), random.number()};
    vcpu.kernel_insns = random.number();
    vcpu.samples_taken = random.number();
    vcpu.samples_stored = random.number();
    vcpu.dropped_queue_full = random.number();
    vcpu.dropped_writer = random.number();
    vcpu.weight_stored = random.number();
    for (auto& count : vcpu.walks_by_stop) count = random.number();
    vcpu.events_taken = random.number();
    for (auto* counts : {&vcpu.events_stored, &vcpu.events_dropped_queue_full, &vcpu.events_dropped_writer})
      for (uint64_t& count : *counts) count = random.number();
    ledger.vcpus.push_back(vcpu);
  }
  return ledger;
}

Header small_header() {
  Header header;
  header.freq_hz = 99;
  return header;
}

TEST(RoundTrip, EveryFieldOfTheHeader) {
  const Header header = full_header();
  const auto back = header_of(metadata_of(header));
  ASSERT_TRUE(back) << back.error().message;
  EXPECT_EQ(*back, header);
  // A field added to Header without a row in the table would still be equal by default: count the keys.
  EXPECT_EQ(metadata_of(header).size(), 22U);
}

TEST(RoundTrip, RandomRecordsOfEveryKind) {
  for (uint64_t seed = 0; seed < 50; ++seed) {
    Random random(seed);
    Collected written;
    MemorySink sink;
    Writer writer(sink);
    ASSERT_TRUE(writer.begin(full_header()));
    for (uint64_t i = random.below(4); i > 0; --i) {
      written.samples.push_back(random_samples(random, 1 + random.below(200), 1 + random.below(500)));
      ASSERT_TRUE(writer.samples(written.samples.back()));
    }
    for (uint64_t i = random.below(300); i > 0; --i)
      written.counts.push_back({GuestVa{random.number()}, static_cast<uint32_t>(random.number()), random.number()});
    ASSERT_TRUE(writer.counts(written.counts));
    for (uint64_t i = random.below(300); i > 0; --i)
      written.fingerprints.push_back(
          {random.number(), GuestVa{random.number()}, random.bytes(1 + random.below(kMaxFingerprintBytes))});
    ASSERT_TRUE(writer.fingerprints(written.fingerprints));
    written.ledgers.push_back(random_ledger(random));
    ASSERT_TRUE(writer.ledger(written.ledgers.back()));
    const Metadata labels = {
        {"label.a", std::string("gc 线程")},   {"label.b", int64_t{-5}},           {"label.c", true},
        {"label.d", random.bytes(3000)},       {"label.e", uint64_t{0}},           {"label.f", std::string()},
        {"label.g", std::vector<std::byte>()}, {"label.h", std::string(5000, 'x')}};
    ASSERT_TRUE(writer.metadata(labels));
    Trailer trailer{EndReason::kControlQuit, random.number(), random.number(), random_ledger(random)};
    written.ledgers.push_back(trailer.ledger);
    ASSERT_TRUE(writer.finish(trailer));
    EXPECT_EQ(writer.bytes_written(), sink.bytes().size());

    Collected read;
    const auto summary = read_capture(sink.bytes(), "memory", collect_into(read));
    ASSERT_TRUE(summary) << summary.error().message;
    EXPECT_TRUE(summary->integrity.whole()) << summary->integrity.first_damage;
    EXPECT_EQ(summary->header, full_header());
    EXPECT_EQ(summary->trailer, trailer);
    EXPECT_EQ(summary->last_ledger, trailer.ledger);
    for (const auto& [key, value] : labels) EXPECT_EQ(summary->metadata.at(key), value) << key;
    EXPECT_EQ(read.samples, written.samples);
    EXPECT_EQ(read.counts, written.counts);
    EXPECT_EQ(read.fingerprints, written.fingerprints);
    EXPECT_EQ(read.ledgers, written.ledgers);
  }
}

TEST(RoundTrip, UnsetHandlersChangeNothingElse) {
  const auto bytes = example_capture();
  const auto summary = read_capture(bytes, "memory", Handlers{});
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole());
  EXPECT_EQ(summary->last_ledger->vcpus.size(), 1U);
}

/// Flattened, because a split chunk numbers its sites anew.
std::vector<std::pair<Site, Sample>> flattened(const std::vector<SampleChunk>& chunks) {
  std::vector<std::pair<Site, Sample>> result;
  for (const auto& chunk : chunks) {
    for (Sample sample : chunk.samples) {
      const Site& site = chunk.sites[sample.site];
      sample.site = 0;
      result.emplace_back(site, sample);
    }
  }
  return result;
}

TEST(RoundTrip, AChunkBeyondTheLimitsIsSplit) {
  Random random(1);
  SampleChunk chunk = random_samples(random, 1, 1);
  chunk.sites.clear();
  chunk.samples.clear();
  // More frames than one chunk may have, and more bytes.
  for (uint32_t i = 0; i < kMaxFramesPerChunk / kMaxFramesPerSample + 2; ++i) {
    Site site{.pc = GuestVa{i}, .block_insns = 1, .stop = StopReason::kMaxFrames, .link = std::nullopt, .frames = {}};
    for (size_t frame = 0; frame < kMaxFramesPerSample; ++frame) site.frames.push_back(GuestVa{frame * 0x0123456789abcdef});
    chunk.sites.push_back(std::move(site));
    chunk.samples.push_back({.site = i, .sequence = i, .wall_ns = i, .insns = i, .weight = 1, .task = kUnknownTask});
  }
  MemorySink sink;
  Writer writer(sink);
  ASSERT_TRUE(writer.begin(small_header()));
  ASSERT_TRUE(writer.samples(chunk));
  Collected read;
  const auto summary = read_capture(sink.bytes(), "memory", collect_into(read));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->integrity.damaged_chunks, 0U) << summary->integrity.first_damage;
  EXPECT_GT(read.samples.size(), 1U);
  EXPECT_EQ(flattened(read.samples), flattened({chunk}));
}

TEST(Writer, RefusesWhatAReaderWould) {
  MemorySink sink;
  Writer writer(sink);
  EXPECT_FALSE(writer.samples({}));      // before begin
  EXPECT_FALSE(writer.begin(Header{}));  // mode wall without a rate
  ASSERT_TRUE(writer.begin(small_header()));
  EXPECT_FALSE(writer.begin(small_header()));
  const uint64_t begun = writer.bytes_written();

  SampleChunk chunk;
  chunk.samples.resize(1);
  EXPECT_FALSE(writer.samples(chunk));  // no site
  chunk.sites.resize(1);
  chunk.vcpu = VcpuIndex{kMaxVcpus};
  EXPECT_FALSE(writer.samples(chunk));
  EXPECT_FALSE(writer.fingerprints(std::vector<Fingerprint>(1)));  // no bytes
  EXPECT_FALSE(writer.metadata({{"Label", true}}));
  EXPECT_FALSE(writer.metadata({{"", true}}));
  EXPECT_FALSE(writer.metadata({{"label", std::string(kMaxMetadataValueBytes + 1, 'x')}}));
  Ledger ledger;
  ledger.vcpus.resize(2);  // vCPU 0 twice
  EXPECT_FALSE(writer.ledger(ledger));
  EXPECT_EQ(writer.bytes_written(), begun);

  ASSERT_TRUE(writer.finish({}));
  EXPECT_FALSE(writer.ledger({}));
  EXPECT_FALSE(writer.finish({}));
  EXPECT_TRUE(writer.metadata({{"label.late", true}}));
  const auto summary = read_capture(sink.bytes(), "memory", Handlers{});
  ASSERT_TRUE(summary);
  EXPECT_TRUE(summary->integrity.whole());
  EXPECT_TRUE(summary->metadata.contains("label.late"));
}

TEST(Writer, StopsForGoodWhenTheSinkFails) {
  MemorySink sink(700);
  Writer writer(sink);
  ASSERT_TRUE(writer.begin(small_header()));
  Result<void> result;
  while (result) result = writer.ledger({});
  const uint64_t written = writer.bytes_written();
  EXPECT_EQ(result.error().code, ErrorCode::kIo);
  EXPECT_FALSE(writer.metadata({{"a", true}}));  // it would fit
  EXPECT_FALSE(writer.finish({}));
  EXPECT_EQ(writer.bytes_written(), written);
  EXPECT_EQ(sink.bytes().size(), written);
}

}  // namespace
}  // namespace qperf::capture
