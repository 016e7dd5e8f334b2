#include <gtest/gtest.h>
#include <malloc.h>

#include <atomic>
#include <cstdlib>
#include <new>

#include "base/checksum.h"
#include "capture/chunk_codec.h"
#include "capture/limits.h"
#include "capture/sample_codec.h"
#include "capture/test_support.h"

namespace {

std::atomic<size_t> live_bytes = 0;
std::atomic<size_t> peak_bytes = 0;
std::atomic<size_t> allocations = 0;

void* counted(void* memory) {
  if (memory == nullptr) throw std::bad_alloc();
  const size_t live = live_bytes += malloc_usable_size(memory);
  if (live > peak_bytes) peak_bytes = live;
  ++allocations;
  return memory;
}

void release(void* memory) noexcept {
  if (memory != nullptr) live_bytes -= malloc_usable_size(memory);
  std::free(memory);
}

}  // namespace

void* operator new(size_t size) { return counted(std::malloc(size)); }
void operator delete(void* memory) noexcept { release(memory); }
void operator delete(void* memory, size_t) noexcept { release(memory); }

namespace qperf::capture {
namespace {

constexpr size_t kStatedBound = size_t{256} << 20;  // docs/capture-format.md, "Limits"

/// Appends a chunk whose header tells the truth about a payload that asks for as much memory as it can.
void put_chunk(ChunkKind kind, uint32_t number, uint32_t records, std::span<const std::byte> payload, ByteWriter& out) {
  static Compressor compressor;
  encode_chunk({.kind = kind, .number = number, .record_count = records, .vcpu = kind == ChunkKind::kSamples ? 0 : kNoVcpu},
               payload, compressor, out);
}

/// Sites with `frames` frames each from `first` on; all others have none, so that a reader that reuses sites grows ever others.
std::vector<std::byte> greedy_samples(size_t first, size_t count, size_t frames) {
  SampleChunk chunk;
  chunk.sites.resize(kMaxSitesPerChunk);
  for (size_t i = first; i < first + count; ++i) chunk.sites[i].frames.resize(frames, GuestVa{});
  chunk.samples.resize(kMaxSamplesPerChunk);
  ByteWriter out;
  encode_samples(chunk, out);
  return {out.view().begin(), out.view().end()};
}

TEST(Memory, TheWorstFilesStayWithinTheStatedBound) {
  const auto head = example_capture();
  ByteWriter file;
  file.bytes(std::span(head).first(kFileHeaderBytes));
  uint32_t number = 0;
  constexpr size_t kLargeSites = kMaxFramesPerChunk / kMaxFramesPerSample;
  for (size_t round = 0; round < 6; ++round) {
    const auto payload = greedy_samples(round * kLargeSites, kLargeSites, kMaxFramesPerSample);
    put_chunk(ChunkKind::kSamples, number++, kMaxSamplesPerChunk, payload, file);
  }
  ByteWriter counts;
  for (size_t i = 0; i < kMaxCountsPerChunk * 3; ++i) counts.u8(static_cast<uint8_t>(i % 127));
  put_chunk(ChunkKind::kCounts, number++, kMaxCountsPerChunk, counts.view(), file);
  ByteWriter fingerprints;
  for (size_t i = 0; i < kMaxFingerprintsPerChunk; ++i) {
    fingerprints.u8(0);
    fingerprints.u8(0);
    fingerprints.u8(kMaxFingerprintBytes);
    for (size_t byte = 0; byte < kMaxFingerprintBytes; ++byte) fingerprints.u8(static_cast<uint8_t>(i * byte));
  }
  put_chunk(ChunkKind::kFingerprints, number++, kMaxFingerprintsPerChunk, fingerprints.view(), file);
  // More metadata than a file may have, in chunks as large as a chunk may be.
  for (int chunk = 0; chunk < 3; ++chunk) {
    ByteWriter pairs;
    for (int i = 0; i < 15; ++i) {
      pairs.u8(2);
      pairs.u8(static_cast<uint8_t>('a' + chunk));
      pairs.u8(static_cast<uint8_t>('a' + i));
      pairs.u8(5);
      pairs.varint(kMaxMetadataValueBytes);
      for (size_t byte = 0; byte < kMaxMetadataValueBytes; byte += 8) pairs.u64(byte * 0x9e3779b97f4a7c15);
    }
    put_chunk(ChunkKind::kMetadata, number++, 15, pairs.view(), file);
  }

  Handlers handlers;  // that keep nothing
  size_t chunks = 0;
  handlers.samples = [&](const SampleChunk&) { return ++chunks, Result<void>(); };
  handlers.counts = [&](std::span<const BlockCount>) { return ++chunks, Result<void>(); };
  handlers.fingerprints = [&](std::span<const Fingerprint>) { return ++chunks, Result<void>(); };
  const std::string path = testing::TempDir() + "qperf-memory-test.bin";
  std::FILE* stored = std::fopen(path.c_str(), "wb");
  ASSERT_NE(stored, nullptr);
  ASSERT_EQ(std::fwrite(file.view().data(), 1, file.size(), stored), file.size());
  std::fclose(stored);

  const size_t before = live_bytes;
  peak_bytes = before;
  const auto summary = read_capture(path, handlers);
  const size_t used = peak_bytes - before;
  std::remove(path.c_str());
  EXPECT_EQ(chunks, 8U);  // so that the file did cost what it could
  EXPECT_FALSE(summary);   // the example's header keys are not in it
  EXPECT_LT(used, kStatedBound);
  RecordProperty("peak_bytes", std::to_string(used));
  std::printf("peak %zu KiB of %zu\n", used >> 10, kStatedBound >> 10);
}

TEST(Memory, DecodingSamplesAllocatesNothingOnceWarm) {
  const auto capture = [](size_t chunks) {
    MemorySink sink;
    Writer writer(sink);
    Header header;
    header.freq_hz = 99;
    EXPECT_TRUE(writer.begin(header));
    for (size_t i = 0; i < chunks; ++i) {
      SampleChunk chunk;
      const size_t sites = i % 3 == 0 ? 300 : 200;  // also with fewer sites now and then
      for (size_t j = 0; j < sites; ++j) {
        Site site{.pc = GuestVa{j * 100}, .block_insns = 1, .stop = StopReason::kBottom, .link = std::nullopt, .frames = {}};
        site.frames.resize(10);
        chunk.sites.push_back(std::move(site));
      }
      for (uint32_t j = 0; j < 1000; ++j)
        chunk.samples.push_back({.site = j % 200, .sequence = j, .wall_ns = j, .insns = j, .weight = 1});
      EXPECT_TRUE(writer.samples(chunk));
    }
    return sink.bytes();
  };
  const auto allocations_for = [&](size_t chunks) {
    const auto bytes = capture(chunks);
    Handlers handlers;
    handlers.samples = [](const SampleChunk&) { return Result<void>(); };
    const size_t before = allocations;
    EXPECT_TRUE(read_capture(bytes, "memory", handlers));
    return allocations - before;
  };
  EXPECT_EQ(allocations_for(100), allocations_for(10));
}

}  // namespace
}  // namespace qperf::capture
