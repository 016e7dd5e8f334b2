#include "capture/events.h"

#include <gtest/gtest.h>

#include <random>

#include "capture/limits.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

EventChunk small_chunk() {
  EventChunk chunk;
  chunk.vcpu = VcpuIndex{3};
  chunk.stored_before = 7;
  chunk.stacks = {{GuestVa{0xffffffc080000010}, GuestVa{0xffffffc080000100}}, {GuestVa{0x10}}};
  chunk.events = {
      {.sequence = 5, .wall_ns = 100, .insns = 1000, .kind = 3, .args = {4, 1, 5, 0xffffffc080123456, 0}, .stack = 0},
      {.sequence = 6, .wall_ns = 90, .insns = 1001, .kind = UINT64_MAX, .args = {1, 2, 3, 4, UINT64_MAX}, .stack = 1},
      {.type = EventType::kVcpuIdle, .sequence = 20, .wall_ns = 200, .insns = 1002},
  };
  chunk.losses = {{.first_sequence = 7, .last_sequence = 9, .counts = {1, 0, 2}}, {.first_sequence = 30, .last_sequence = 30, .counts = {}}};
  return chunk;
}

void expect_same(const EventChunk& a, const EventChunk& b) {
  EXPECT_EQ(a.vcpu, b.vcpu);
  EXPECT_EQ(a.stored_before, b.stored_before);
  EXPECT_EQ(a.stacks, b.stacks);
  EXPECT_EQ(a.events, b.events);
  EXPECT_EQ(a.losses, b.losses);
}

TEST(Events, RoundTrip) {
  const EventChunk chunk = small_chunk();
  ASSERT_TRUE(check_events(chunk).ok());
  ByteWriter out;
  encode_events(chunk, out);
  EventDecoder decoder;
  const auto decoded = decoder.decode(out.view(), chunk.vcpu, 3);
  ASSERT_TRUE(decoded.ok()) << decoded.error().message;
  expect_same(chunk, **decoded);
}

TEST(Events, EveryPrefixIsRefused) {
  const EventChunk chunk = small_chunk();
  ByteWriter out;
  encode_events(chunk, out);
  for (size_t length = 0; length < out.size(); ++length) {
    EventDecoder decoder;
    EXPECT_FALSE(decoder.decode(out.view().first(length), chunk.vcpu, 3).ok()) << length;
  }
}

TEST(Events, DamagedBytesNeverCrash) {
  const EventChunk chunk = small_chunk();
  ByteWriter out;
  encode_events(chunk, out);
  std::mt19937_64 random(1);
  EventDecoder decoder;
  for (int round = 0; round < 20000; ++round) {
    std::vector<std::byte> bytes(out.view().begin(), out.view().end());
    for (int flips = 0; flips < 3; ++flips) bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    const auto decoded = decoder.decode(bytes, chunk.vcpu, static_cast<uint32_t>(random() % 6));
    if (!decoded) continue;
    // Whatever is accepted must be what the encoder may write.
    EXPECT_TRUE(check_events(**decoded).ok());
  }
}

TEST(Events, RefusesWhatTheReaderWouldRefuse) {
  EventChunk chunk = small_chunk();
  chunk.events[2].sequence = 6;
  EXPECT_FALSE(check_events(chunk).ok());
  chunk = small_chunk();
  chunk.events[0].stack = 2;
  EXPECT_FALSE(check_events(chunk).ok());
  chunk = small_chunk();
  chunk.stacks[1].clear();
  EXPECT_FALSE(check_events(chunk).ok());
  chunk = small_chunk();
  chunk.losses[1].first_sequence = 10;  // no event between it and the first
  EXPECT_FALSE(check_events(chunk).ok());
  chunk = small_chunk();
  chunk.losses[0].last_sequence = 20;  // an event inside
  EXPECT_FALSE(check_events(chunk).ok());
  chunk = small_chunk();
  chunk.vcpu.raw = kMaxVcpus;
  EXPECT_FALSE(check_events(chunk).ok());
}

TEST(Events, SplitPartsHoldEverythingOnce) {
  EventChunk chunk;
  std::mt19937_64 random(2);
  for (size_t i = 0; i < 700; ++i) chunk.stacks.emplace_back(kMaxFramesPerSample, GuestVa{random()});
  uint64_t sequence = 0;
  for (size_t i = 0; i < 140'000; ++i) {
    sequence += 2;
    chunk.events.push_back({.sequence = sequence, .kind = 2, .stack = i % 200 == 0 ? static_cast<uint32_t>(i / 200) : kNoEventStack});
    if (i % 50'000 == 0) chunk.losses.push_back({.first_sequence = sequence + 1, .last_sequence = sequence + 1, .counts = {1}});
  }
  chunk.losses.push_back({.first_sequence = sequence + 1, .last_sequence = sequence + 3, .counts = {3}});
  const auto cuts = split_events(chunk);
  ASSERT_GT(cuts.size(), 2U);
  size_t events = 0;
  size_t losses = 0;
  for (size_t i = 0; i + 1 < cuts.size(); ++i) {
    const EventChunk part = event_part(chunk, cuts[i], cuts[i + 1]);
    ASSERT_TRUE(check_events(part).ok());
    EXPECT_EQ(part.stored_before, events);
    ByteWriter out;
    encode_events(part, out);
    EXPECT_LE(out.size(), kMaxChunkRawBytes);
    for (const Event& event : part.events) {
      const Event& original = chunk.events[events++];
      EXPECT_EQ(event.sequence, original.sequence);
      ASSERT_EQ(event.stack == kNoEventStack, original.stack == kNoEventStack);
      if (event.stack != kNoEventStack) {
        EXPECT_EQ(part.stacks[event.stack].front(), chunk.stacks[original.stack].front());
      }
    }
    for (const EventLoss& loss : part.losses) EXPECT_EQ(loss, chunk.losses[losses++]);
  }
  EXPECT_EQ(events, chunk.events.size());
  EXPECT_EQ(losses, chunk.losses.size());
}

TEST(Events, AFileGivesThemBackInParts) {
  EventChunk chunk;
  chunk.vcpu = VcpuIndex{1};
  for (uint64_t i = 0; i < kMaxEventsPerChunk + 5; ++i) chunk.events.push_back({.sequence = i, .wall_ns = i * 3, .kind = 2, .args = {i, i + 1, 2}});
  chunk.losses = {{.first_sequence = chunk.events.size(), .last_sequence = chunk.events.size() + 2, .counts = {0, 0, 3}}};
  MemorySink sink;
  Writer writer(sink);
  Header header;
  header.freq_hz = 99;
  header.vcpus = header.max_vcpus = 2;
  header.qperf_version = "0.1.0";
  ASSERT_TRUE(writer.begin(header).ok());
  ASSERT_TRUE(writer.events(chunk).ok());
  ASSERT_TRUE(writer.finish(Trailer{}).ok());
  std::vector<Event> events;
  std::vector<EventLoss> losses;
  size_t chunks = 0;
  Handlers handlers;
  handlers.events = [&](const EventChunk& part) {
    EXPECT_EQ(part.vcpu, chunk.vcpu);
    EXPECT_EQ(part.stored_before, events.size());
    events.insert(events.end(), part.events.begin(), part.events.end());
    losses.insert(losses.end(), part.losses.begin(), part.losses.end());
    ++chunks;
    return Result<void>();
  };
  const auto summary = read_capture(sink.bytes(), "test", handlers);
  ASSERT_TRUE(summary.ok()) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole());
  EXPECT_GE(chunks, 2U);
  EXPECT_EQ(events, chunk.events);
  EXPECT_EQ(losses, chunk.losses);
}

}  // namespace
}  // namespace qperf::capture
