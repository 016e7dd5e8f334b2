#include <gtest/gtest.h>

#include <atomic>
#include <cstring>
#include <filesystem>
#include <thread>
#include <vector>

#include "capture/reader.h"
#include "ring/slot_ring.h"
#include "sampling/clock.h"
#include "sampling/fake_guest.h"
#include "sampling/fingerprint_queue.h"
#include "sampling/session.h"

namespace qperf::sampling {
namespace {

TEST(Stress, RingLosesOnlyWhatItRefuses) {
  for (const size_t capacity : {1U, 2U, 7U}) {
    ring::SlotRing ring;
    ASSERT_TRUE(ring.allocate(capacity, 64));
    constexpr uint64_t kItems = 200000;
    std::atomic<bool> done{false};
    uint64_t refused = 0;
    std::thread producer([&] {
      for (uint64_t i = 0; i < kItems; ++i) {
        std::byte* const slot = ring.reserve();
        if (slot == nullptr) {
          ++refused;
          continue;
        }
        for (size_t word = 0; word < 8; ++word) std::memcpy(slot + word * 8, &i, 8);
        ring.commit();
      }
      done.store(true, std::memory_order_release);
    });
    uint64_t popped = 0;
    uint64_t next_at_least = 0;
    while (true) {
      const bool last_round = done.load(std::memory_order_acquire);
      while (const std::byte* slot = ring.front()) {
        uint64_t words[8];
        std::memcpy(words, slot, sizeof words);
        for (const uint64_t word : words) ASSERT_EQ(word, words[0]) << "a slot was reused while it was read";
        ASSERT_GE(words[0], next_at_least) << "order";
        next_at_least = words[0] + 1;
        ++popped;
        ring.pop();
      }
      if (last_round) break;
    }
    producer.join();
    EXPECT_EQ(popped + refused, kItems);
  }
}

TEST(Stress, FingerprintsFromManyThreadsArriveWhole) {
  FingerprintQueue queue;
  constexpr uint64_t kThreads = 4;
  constexpr uint64_t kItems = 20000;
  std::atomic<uint64_t> pushed{0};
  std::atomic<uint64_t> running{kThreads};
  std::vector<std::thread> producers;
  for (uint64_t id = 0; id < kThreads; ++id)
    producers.emplace_back([&, id] {
      std::vector<std::byte> bytes(FingerprintQueue::kMaxBytes, static_cast<std::byte>(id));
      for (uint64_t i = 0; i < kItems; ++i)
        if (queue.push(id, GuestVa{id}, bytes)) pushed.fetch_add(1, std::memory_order_relaxed);
      running.fetch_sub(1, std::memory_order_release);
    });
  uint64_t popped = 0;
  FingerprintQueue::Item item;
  while (true) {
    const bool last_round = running.load(std::memory_order_acquire) == 0;
    while (queue.pop(item)) {
      ++popped;
      for (const auto byte : item.bytes) ASSERT_EQ(std::to_integer<uint64_t>(byte), item.address.raw);
    }
    if (last_round) break;
  }
  for (auto& producer : producers) producer.join();
  EXPECT_EQ(popped, pushed.load());
  EXPECT_EQ(popped + queue.dropped(), kThreads * kItems);
}

/// Runs like generated code does, with atomic words because the sanitizer sees only what the language sees.
void run_vcpu(Session& session, FakeWords& words, VcpuIndex vcpu, const std::atomic<bool>& stop) {
  Sampler& sampler = session.sampler();
  FakeCpu cpu;
  uint64_t step = 0;
  while (!stop.load(std::memory_order_relaxed)) {
    ++step;
    Block* const block = sampler.block_translated(GuestVa{0xffffffff80000000 + step % 512 * 16}, 10);
    std::atomic_ref insns(words.words(vcpu).insns);
    insns.store(insns.load(std::memory_order_relaxed) + 10, std::memory_order_relaxed);
    if (std::atomic_ref(words.words(vcpu).due).load(std::memory_order_relaxed) != 0) {
      if (step % 3 == 0) sampler.outside_alarm(vcpu, GuestVa{0x1000}, cpu);
      if (step % 3 == 1) sampler.kernel_alarm(vcpu, block, cpu);
    }
    if (step % 4096 == 0) {
      sampler.vcpu_idle(vcpu);
      std::this_thread::yield();
      sampler.vcpu_resume(vcpu);
    }
  }
}

TEST(Stress, EveryTickAndSampleIsAccountedForWhenAllRunAtOnce) {
  constexpr uint32_t kVcpus = 6;
  const std::string path = ::testing::TempDir() + "/qperf_stress.bin";
  const std::vector<std::string_view> arguments{"freq=10000", "queue=3"};
  auto options = *parse_options(arguments, guest::Target::kRiscv64);
  options.out_path = path;
  FakeWords words(kVcpus);
  HostFacts facts;
  facts.vcpus = kVcpus;
  facts.max_vcpus = kVcpus;
  auto session = Session::create(options, facts, words);
  ASSERT_TRUE(session) << session.error().message;
  (*session)->start();
  ASSERT_TRUE((*session)->begin());
  std::atomic<bool> stop{false};
  std::vector<std::thread> vcpus;
  for (uint32_t i = 0; i < kVcpus; ++i)
    vcpus.emplace_back([&, i] {
      (*session)->vcpu_online(VcpuIndex{i}, static_cast<int>(100 + i));
      run_vcpu(**session, words, VcpuIndex{i}, stop);
    });
  std::this_thread::sleep_for(std::chrono::milliseconds(2500));
  (*session)->finish();  // while the vCPUs still run, as at the emulator's exit
  stop = true;
  for (auto& vcpu : vcpus) vcpu.join();

  uint64_t samples = 0;
  uint64_t weight = 0;
  capture::Handlers handlers;
  handlers.samples = [&](const capture::SampleChunk& chunk) -> Result<void> {
    samples += chunk.samples.size();
    for (const auto& sample : chunk.samples) weight += sample.weight;
    return {};
  };
  uint64_t ledgers = 0;
  handlers.ledger = [&](const capture::Ledger& ledger) -> Result<void> {
    ++ledgers;
    for (const auto& vcpu : ledger.vcpus) {
      const auto& t = vcpu.ticks;
      EXPECT_EQ(t.issued, t.kernel + t.user + t.idle + t.other_privileged + t.lost + t.unknown_idle);
    }
    return {};
  };
  const auto summary = capture::read_capture(path, handlers);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole());
  ASSERT_TRUE(summary->trailer);
  uint64_t stored = 0;
  uint64_t kernel = 0;
  for (const auto& vcpu : summary->trailer->ledger.vcpus) {
    const auto& t = vcpu.ticks;
    EXPECT_EQ(t.issued, t.kernel + t.user + t.idle + t.other_privileged + t.lost + t.unknown_idle);
    EXPECT_EQ(vcpu.samples_taken, vcpu.samples_stored + vcpu.dropped_queue_full + vcpu.dropped_writer);
    stored += vcpu.samples_stored;
    kernel += t.kernel;
  }
  EXPECT_EQ(samples, stored);
  EXPECT_EQ(weight, kernel);
  EXPECT_GT(samples, 0U);
  EXPECT_GE(ledgers, 1U);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace qperf::sampling
