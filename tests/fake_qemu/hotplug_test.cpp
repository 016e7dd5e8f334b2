#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "emulator.h"

namespace fake_qemu {
namespace {

using namespace std::chrono_literals;

class HotplugTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }

  /// `vcpu` comes and runs kernel code on a thread of its own.
  void add(unsigned vcpu) {
    threads.emplace_back([this, vcpu] {
      emulator->init_vcpu(vcpu);
      for (; !stop.load(std::memory_order_relaxed); ++blocks[vcpu]) emulator->run(vcpu, Emulator::kKernelPc);
    });
  }

  void start(std::vector<std::string> arguments, std::chrono::milliseconds move_time, int vcpus = 2) {
    emulator.emplace(Emulator::Machine{.vcpus = vcpus, .max_vcpus = 40, .move_time = move_time});
    arguments.push_back("out=" + path);
    ASSERT_TRUE(emulator->install(arguments)) << emulator->said;
  }

  Recording end() {
    stop = true;
    for (auto& thread : threads) thread.join();
    emulator->exit();
    auto recording = read_recording(path);
    EXPECT_TRUE(recording.summary.trailer);
    return recording;
  }

  /// Two vCPUs run; one comes that needs more room, and one that needs more again.
  void plug_two() {
    add(0);
    add(1);
    std::this_thread::sleep_for(300ms);
    add(16);
    std::this_thread::sleep_for(300ms);
    add(32);
    std::this_thread::sleep_for(300ms);
  }

  std::string path = temporary_path("hotplug.bin");
  std::optional<Emulator> emulator;
  std::vector<std::thread> threads;
  std::atomic<bool> stop{false};
  std::array<uint64_t, 40> blocks{};
};

TEST_F(HotplugTest, TheTimerLeavesWordsAloneThatMove) {
  start({"freq=5000"}, 100ms);
  plug_two();
  const auto recording = end();
  EXPECT_EQ(emulator->wrong_accesses(), 0U);
  const auto& vcpus = recording.summary.trailer->ledger.vcpus;
  ASSERT_EQ(vcpus.size(), 4U);
  for (const auto& vcpu : vcpus) {
    EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks));
    EXPECT_GT(vcpu.ticks.kernel, 0U);
    EXPECT_EQ(vcpu.kernel_insns, blocks[vcpu.vcpu.raw] * 10);
  }
  EXPECT_GT(vcpus[0].ticks.issued, vcpus[2].ticks.issued);
  EXPECT_GT(vcpus[2].ticks.issued, vcpus[3].ticks.issued);
}

TEST_F(HotplugTest, TheWriterLeavesCountersAloneThatMove) {
  // Longer than the writer goes without a look at them.
  start({"mode=icount", "period=1000000"}, 1200ms);
  plug_two();
  const auto recording = end();
  EXPECT_EQ(emulator->wrong_accesses(), 0U);
  for (const auto& vcpu : recording.summary.trailer->ledger.vcpus) EXPECT_EQ(vcpu.kernel_insns, blocks[vcpu.vcpu.raw] * 10);
}

TEST_F(HotplugTest, ExactCountsMoveAlong) {
  start({"mode=exact"}, 1200ms);
  plug_two();
  const auto recording = end();
  EXPECT_EQ(emulator->wrong_accesses(), 0U);
  uint64_t executions = 0;
  for (const auto& count : recording.counts) executions += count.executions;
  EXPECT_EQ(executions, blocks[0] + blocks[1] + blocks[16] + blocks[32]);
}

TEST_F(HotplugTest, AtTheStartNobodyTouchesWordsThatMove) {
  constexpr int kVcpus = 33;
  start({"freq=5000"}, 1200ms, kVcpus);
  for (unsigned i = 0; i < kVcpus; ++i) std::thread([&] { emulator->init_vcpu(i); }).join();
  EXPECT_EQ(emulator->wrong_accesses(), 0U);
  emulator->run(0, Emulator::kKernelPc);
  const auto recording = end();
  EXPECT_EQ(recording.summary.trailer->ledger.vcpus.size(), size_t{kVcpus});
}

}  // namespace
}  // namespace fake_qemu
