#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <new>
#include <string>
#include <thread>

#include "capture/delivery.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

/// A capture that is large enough to be read by a second thread: chunks that differ, compressed and not, samples between ledgers.
std::vector<std::byte> large_capture() {
  MemorySink sink;
  Writer writer(sink);
  Header header;
  header.freq_hz = 99;
  header.vcpus = header.max_vcpus = 2;
  EXPECT_TRUE(writer.begin(header));
  std::mt19937_64 random(7);
  for (uint64_t i = 0; i < 60; ++i) {
    SampleChunk chunk;
    chunk.vcpu = VcpuIndex{static_cast<uint32_t>(i % 2)};
    const size_t sites = i % 5 == 0 ? 2 : 100 + i;  // the small ones are stored as they are
    for (size_t j = 0; j < sites; ++j) {
      Site site{.pc = GuestVa{random()}, .block_insns = 1, .stop = StopReason::kBottom, .link = std::nullopt, .frames = {}};
      site.frames.assign(8, GuestVa{random()});
      chunk.sites.push_back(std::move(site));
    }
    for (uint32_t j = 0; j < sites * 4; ++j)
      chunk.samples.push_back({.site = j % static_cast<uint32_t>(sites), .sequence = j, .wall_ns = i * 1000 + j, .insns = random(), .weight = 1});
    EXPECT_TRUE(writer.samples(chunk));
    Ledger ledger;
    ledger.wall_ns = i * 1000;
    if (i % 7 == 0) {
      EXPECT_TRUE(writer.ledger(ledger));
    }
  }
  EXPECT_TRUE(writer.finish(Trailer{}));
  return sink.bytes();
}

class Delivered : public testing::Test {
 protected:
  void SetUp() override { store(large_capture()); }
  void TearDown() override { std::remove(path_.c_str()); }
  void store(std::vector<std::byte> bytes) {
    bytes_ = std::move(bytes);
    std::FILE* file = std::fopen(path_.c_str(), "wb");
    ASSERT_NE(file, nullptr);
    ASSERT_EQ(std::fwrite(bytes_.data(), 1, bytes_.size(), file), bytes_.size());
    std::fclose(file);
  }

  const std::string path_ = testing::TempDir() + "qperf-delivery-test.bin";
  std::vector<std::byte> bytes_;
};

/// By the file and from memory, on one thread and two: what reading all chunks says was last.
TEST_F(Delivered, TheLastSamplesOfEachVcpuAreToldWithoutReadingTheOthers) {
  const std::vector<std::byte> whole = bytes_;
  for (const size_t bytes : {whole.size(), whole.size() / 2}) {
    store({whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(bytes)});
    std::map<uint32_t, std::vector<Sample>> expected;
    Handlers all;
    all.samples = [&](const SampleChunk& chunk) -> Result<void> {
      expected[chunk.vcpu.raw] = chunk.samples;
      return {};
    };
    ASSERT_TRUE(read_capture(path_, all));
    ASSERT_EQ(expected.size(), 2U);
    std::map<uint32_t, std::vector<Sample>> found;
    size_t chunks = 0;
    Handlers last;
    last.last_samples = [&](const PackedSamples& chunk) -> Result<void> {
      ++chunks;
      found[chunk.vcpu.raw].assign(chunk.samples.begin(), chunk.samples.end());
      return {};
    };
    ASSERT_TRUE(read_capture(path_, last));
    EXPECT_EQ(found, expected);
    last.events = [](const EventChunk&) -> Result<void> { return {}; };
    ASSERT_TRUE(read_capture(path_, last));
    ASSERT_TRUE(read_capture(bytes_, "memory", last));
    EXPECT_EQ(found, expected);
    EXPECT_EQ(chunks, 6U);
  }
}

TEST_F(Delivered, AFileGivesWhatTheSameBytesInMemoryGive) {
  ASSERT_GT(bytes_.size() * 2 / 3, kWorthAThread);
  const auto all = bytes_;
  for (const size_t size : {all.size(), all.size() - 1, all.size() * 2 / 3}) {
    store({all.begin(), all.begin() + static_cast<std::ptrdiff_t>(size)});
    Collected in_memory;
    Collected of_file;
    const auto expected = read_capture(bytes_, path_, collect_into(in_memory));
    const auto found = read_capture(path_, collect_into(of_file));
    ASSERT_TRUE(expected && found);
    EXPECT_EQ(of_file.samples, in_memory.samples);
    EXPECT_EQ(of_file.ledgers, in_memory.ledgers);
    EXPECT_EQ(found->integrity.whole(), expected->integrity.whole());
    EXPECT_EQ(found->integrity.cut, expected->integrity.cut);
    EXPECT_EQ(found->integrity.first_damage, expected->integrity.first_damage);
    EXPECT_EQ(found->metadata, expected->metadata);
  }
}

TEST_F(Delivered, HandlersRunOnTheCallersThreadInTheOrderOfTheFile) {
  const auto caller = std::this_thread::get_id();
  Handlers handlers;
  WallNs last_ns = 0;
  size_t chunks = 0;
  handlers.samples = [&](const SampleChunk& chunk) {
    EXPECT_EQ(std::this_thread::get_id(), caller);
    EXPECT_GE(chunk.samples.front().wall_ns, last_ns);
    last_ns = chunk.samples.front().wall_ns;
    ++chunks;
    return Result<void>();
  };
  handlers.ledger = [&](const Ledger& ledger) {
    if (ledger.wall_ns != 0) {
      EXPECT_EQ(ledger.wall_ns, last_ns);  // the samples before it came before it
    }
    return Result<void>();
  };
  ASSERT_TRUE(read_capture(path_, handlers));
  EXPECT_EQ(chunks, 60U);
}

TEST_F(Delivered, SitesAreNumberedAheadOfTheHandlers) {
  uint32_t numbered = 0;
  Handlers handlers;
  handlers.number_sites = [&](std::span<const PackedSite> sites, std::vector<uint32_t>& numbers) {
    numbers.resize(sites.size());
    for (uint32_t& number : numbers) number = numbered++;
  };
  uint32_t expected = 0;
  handlers.packed_samples = [&](const PackedSamples& chunk) -> Result<void> {
    EXPECT_EQ(chunk.site_numbers.size(), chunk.sites.size());
    for (const uint32_t number : chunk.site_numbers) EXPECT_EQ(number, expected++);
    return {};
  };
  ASSERT_TRUE(read_capture(path_, handlers));
  EXPECT_GT(expected, 1000U);
  EXPECT_EQ(expected, numbered);
}

TEST_F(Delivered, AHandlersErrorEndsTheReading) {
  for (const size_t good : {size_t{0}, size_t{1}, size_t{2}, size_t{30}, size_t{59}}) {
    size_t calls = 0;
    Handlers handlers;
    handlers.samples = [&](const SampleChunk&) -> Result<void> {
      if (calls++ == good) return Error{ErrorCode::kIo, "enough"};
      return {};
    };
    const auto read = read_capture(path_, handlers);
    ASSERT_FALSE(read);
    EXPECT_EQ(read.error().message, path_ + ": enough");
    EXPECT_EQ(calls, good + 1);
  }
}

TEST_F(Delivered, AHandlersExceptionReachesTheCaller) {
  Handlers handlers;
  handlers.samples = [](const SampleChunk&) -> Result<void> { throw std::bad_alloc(); };
  EXPECT_THROW((void)read_capture(path_, handlers), std::bad_alloc);
}

}  // namespace
}  // namespace qperf::capture
