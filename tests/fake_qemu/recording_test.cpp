#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <thread>

#include "emulator.h"

namespace fake_qemu {
namespace {

using namespace std::chrono_literals;

class RecordingTest : public ::testing::Test {
 protected:
  void SetUp() override { path = temporary_path("recording.bin"); }
  void TearDown() override { std::filesystem::remove(path); }

  std::string path;
};

/// One vCPU's life: kernel, user and firmware blocks, and naps, in a fixed pattern.
void live(Emulator& emulator, unsigned vcpu, const std::atomic<bool>& stop) {
  emulator.init_vcpu(vcpu);
  for (uint64_t step = 0; !stop.load(std::memory_order_relaxed); ++step) {
    emulator.run(vcpu, Emulator::kKernelPc + step % 64 * 64);
    emulator.run(vcpu, Emulator::kUserPc + step % 64 * 64);
    if (step % 2000 != 0) continue;
    emulator.idle(vcpu);
    std::this_thread::sleep_for(2ms);
    emulator.resume(vcpu);
  }
}

/// How long this thread has run or waited for the host to let it run.
double ready_ms_of_this_thread() {
  std::ifstream file("/proc/thread-self/schedstat");
  double running_ns = 0;
  double waiting_ns = 0;
  file >> running_ns >> waiting_ns;
  EXPECT_TRUE(file) << "/proc/thread-self/schedstat";
  return (running_ns + waiting_ns) / 1e6;
}

TEST_F(RecordingTest, ThirtyTwoVcpusConserveEveryTickAndNoneIsFavoured) {
  constexpr unsigned kVcpus = 32;
  Emulator emulator({.vcpus = kVcpus});
  ASSERT_TRUE(emulator.install({"out=" + path, "freq=500"})) << emulator.said;
  std::atomic<bool> stop{false};
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < kVcpus; ++i) threads.emplace_back([&, i] { live(emulator, i, stop); });
  std::this_thread::sleep_for(2s);
  stop = true;
  for (auto& thread : threads) thread.join();
  emulator.exit();
  EXPECT_NE(emulator.said.find("QPerf capture complete"), std::string::npos) << emulator.said;

  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  EXPECT_TRUE(recording.summary.integrity.whole());
  const auto& vcpus = recording.summary.trailer->ledger.vcpus;
  ASSERT_EQ(vcpus.size(), kVcpus);
  uint64_t weight = 0;
  for (const auto& sample : recording.samples) weight += sample.weight;
  uint64_t kernel = 0;
  for (const auto& vcpu : vcpus) {
    EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks)) << "vCPU " << vcpu.vcpu.raw;
    EXPECT_EQ(vcpu.ticks.issued, vcpus[0].ticks.issued) << "vCPU " << vcpu.vcpu.raw;
    EXPECT_GT(vcpu.ticks.idle, 0U);
    EXPECT_EQ(vcpu.samples_taken, vcpu.samples_stored + vcpu.dropped_queue_full + vcpu.dropped_writer);
    kernel += vcpu.ticks.kernel;
  }
  EXPECT_EQ(weight, kernel);
  EXPECT_GT(vcpus[0].ticks.issued, 500U);
  EXPECT_GT(recording.ledgers, 1U) << "flushed at least each second";
}

TEST_F(RecordingTest, TimeOutsideTheKernelIsNotChargedToIt) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "freq=1000"}));
  emulator.init_vcpu(0);
  const auto run_for = [&](std::chrono::milliseconds time, uint64_t pc) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
      emulator.run(0, pc);
  };
  run_for(500ms, Emulator::kUserPc);
  emulator.privilege = 3;
  run_for(300ms, Emulator::kUserPc);
  run_for(200ms, Emulator::kKernelPc);
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& ticks = recording.summary.trailer->ledger.vcpus.at(0).ticks;
  EXPECT_EQ(ticks.issued, sum_of_buckets(ticks));
  const auto share = [&](uint64_t count) { return static_cast<double>(count) / static_cast<double>(ticks.issued); };
  EXPECT_NEAR(share(ticks.user), 0.5, 0.1);
  EXPECT_NEAR(share(ticks.other_privileged), 0.3, 0.1);
  EXPECT_NEAR(share(ticks.kernel), 0.2, 0.1);
}

TEST_F(RecordingTest, IcountSamplesAreWhereTheInstructionsWere) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "mode=icount", "period=1000"}));
  emulator.init_vcpu(0);
  for (int i = 0; i < 30000; ++i) {
    emulator.run(0, Emulator::kKernelPc, 7);
    emulator.run(0, Emulator::kUserPc, 50);
    emulator.run(0, Emulator::kKernelPc + 0x1000, 3);
    if (i % 1000 == 0) std::this_thread::sleep_for(2ms);  // the writer's turn
  }
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& vcpu = recording.summary.trailer->ledger.vcpus.at(0);
  EXPECT_EQ(vcpu.kernel_insns, 300000U) << "user instructions do not count";
  EXPECT_EQ(vcpu.weight_stored, 300U);
  ASSERT_EQ(recording.samples.size(), 300U);
  for (size_t i = 0; i < recording.samples.size(); ++i) {
    const auto& sample = recording.samples[i];
    EXPECT_EQ(sample.sequence, i);
    EXPECT_EQ(sample.weight, 1U);
    EXPECT_LT(sample.insns, 1000 * (i + 1));
    EXPECT_GE(sample.insns + recording.sites[i].block_insns, 1000 * (i + 1));
    ASSERT_EQ(recording.sites[i].frames.size(), 2U);
    EXPECT_EQ(recording.sites[i].frames[0].raw, Emulator::kKernelPc + 0x100);
    EXPECT_EQ(recording.sites[i].link->raw, Emulator::kKernelPc + 0x300);
  }
}

TEST_F(RecordingTest, ExactCountsEveryExecution) {
  Emulator emulator({.vcpus = 2});
  ASSERT_TRUE(emulator.install({"out=" + path, "mode=exact"}));
  const auto run_vcpu = [&](unsigned vcpu) {
    emulator.init_vcpu(vcpu);
    for (int i = 0; i < 1000; ++i) emulator.run(vcpu, Emulator::kKernelPc, 7);
    emulator.translate(Emulator::kKernelPc, 7);  // the code cache was flushed
    for (int i = 0; i < 500; ++i) emulator.run(vcpu, Emulator::kKernelPc, 7);
    for (int i = 0; i < 10; ++i) emulator.run(vcpu, Emulator::kKernelPc, 3);
    emulator.run(vcpu, Emulator::kUserPc, 3);
  };
  // One after the other, each on a thread of its own.
  std::thread(run_vcpu, 0U).join();
  std::thread(run_vcpu, 1U).join();
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  std::map<uint32_t, uint64_t> executions;
  for (const auto& count : recording.counts) {
    EXPECT_EQ(count.pc.raw, Emulator::kKernelPc);
    executions[count.block_insns] += count.executions;
  }
  EXPECT_EQ(executions, (std::map<uint32_t, uint64_t>{{7, 3000}, {3, 20}}));
  EXPECT_EQ(recording.summary.trailer->ledger.vcpus.at(0).kernel_insns, 1500U * 7 + 30);
  EXPECT_TRUE(recording.samples.empty());
}

TEST_F(RecordingTest, AFullQueueDropsAndCounts) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "mode=icount", "period=1000", "queue=3"}));
  emulator.init_vcpu(0);
  for (int i = 0; i < 2000000; ++i) emulator.run(0, Emulator::kKernelPc, 10);
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& vcpu = recording.summary.trailer->ledger.vcpus.at(0);
  EXPECT_GT(vcpu.dropped_queue_full, 0U);
  EXPECT_EQ(vcpu.samples_taken, 20000U);
  EXPECT_EQ(vcpu.samples_taken, vcpu.samples_stored + vcpu.dropped_queue_full);
  EXPECT_EQ(recording.samples.size(), vcpu.samples_stored);
  EXPECT_NE(emulator.said.find("queue full " + std::to_string(vcpu.dropped_queue_full)), std::string::npos) << emulator.said;
}

TEST_F(RecordingTest, TheSamplingPathAllocatesNothing) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "mode=icount", "period=1000"}));
  emulator.init_vcpu(0);
  const auto run = [&](int blocks) {
    for (int i = 0; i < blocks; ++i) emulator.run(0, Emulator::kKernelPc, 500);
  };
  run(200);  // warm: translated, buffers grown
  std::this_thread::sleep_for(50ms);
  const uint64_t before = allocations_of_this_thread();
  run(4000);
  EXPECT_EQ(allocations_of_this_thread() - before, 0U) << "in 2000 samples";
  void* volatile kept_by_the_compiler = std::malloc(1);
  std::free(kept_by_the_compiler);
  EXPECT_GT(allocations_of_this_thread(), before) << "the counter works";
  emulator.exit();
  EXPECT_GE(read_recording(path).samples.size(), 2000U);
}

TEST_F(RecordingTest, AFileCutWhileRunningReadsUpToTheLastFlush) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "freq=1000"}));
  emulator.init_vcpu(0);
  for (const auto end = std::chrono::steady_clock::now() + 2500ms; std::chrono::steady_clock::now() < end;)
    emulator.run(0, Emulator::kKernelPc);
  const std::string copy = path + ".killed";  // what SIGKILL would leave
  std::filesystem::copy_file(path, copy, std::filesystem::copy_options::overwrite_existing);
  const auto recording = read_recording(copy);
  std::filesystem::remove(copy);
  EXPECT_FALSE(recording.summary.trailer);
  ASSERT_TRUE(recording.summary.last_ledger);
  uint64_t weight = 0;
  for (const auto& sample : recording.samples) weight += sample.weight;
  EXPECT_GT(weight, 1000U) << "2500 ticks, the last second may be missing";
  EXPECT_GT(recording.samples.back().wall_ns, 1000000000U);
  emulator.exit();
}

TEST_F(RecordingTest, AFullDiskIsFoundBeforeTheGuestRuns) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=/dev/full"})) << emulator.said;
  emulator.init_vcpu(0);
  EXPECT_EXIT(emulator.run(0, Emulator::kKernelPc), ::testing::ExitedWithCode(1), "out=/dev/full: cannot be written: No space left on device");
}

TEST_F(RecordingTest, VcpusOfOneThreadAreSeenAndIdleIsUnknown) {
  Emulator emulator({.vcpus = 2});
  ASSERT_TRUE(emulator.install({"out=" + path, "freq=1000"}));
  ::testing::internal::CaptureStderr();
  emulator.init_vcpu(0);
  emulator.init_vcpu(1);
  EXPECT_NE(::testing::internal::GetCapturedStderr().find("share one thread"), std::string::npos);
  uint64_t blocks = 0;
  for (const auto end = std::chrono::steady_clock::now() + 1500ms; std::chrono::steady_clock::now() < end; blocks += 200) {
    for (int i = 0; i < 100; ++i) emulator.run(0, Emulator::kKernelPc);
    for (int i = 0; i < 100; ++i) emulator.run(1, Emulator::kKernelPc);
  }
  std::this_thread::sleep_for(300ms);  // both "idle": nobody runs
  for (int i = 0; i < 100; ++i) emulator.run(0, Emulator::kKernelPc);
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  EXPECT_FALSE(recording.summary.header.idle_known);
  EXPECT_EQ(recording.summary.trailer->ledger.vcpus.at(0).kernel_insns, (blocks + 100) * 10);
  EXPECT_EQ(recording.summary.trailer->ledger.vcpus.at(1).kernel_insns, 0U) << "they cannot be told apart";
  uint64_t issued = 0;
  uint64_t unknown = 0;
  for (const auto& vcpu : recording.summary.trailer->ledger.vcpus) {
    EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks));
    EXPECT_EQ(vcpu.ticks.idle, 0U);
    issued += vcpu.ticks.issued;
    unknown += vcpu.ticks.unknown_idle;
  }
  EXPECT_GT(unknown, 250U) << "the pause";
  EXPECT_LT(issued, 2500U) << "one tick for all vCPUs together";
}

TEST_F(RecordingTest, OneThreadThatWakesUpOftenIsStillIdle) {
  Emulator emulator({.vcpus = 2});
  ASSERT_TRUE(emulator.install({"out=" + path, "freq=1000"}));
  ::testing::internal::CaptureStderr();
  emulator.init_vcpu(0);
  emulator.init_vcpu(1);
  ::testing::internal::GetCapturedStderr();
  // A guest that does nothing but take its own fast timer's interrupts.
  const double ready_before_ms = ready_ms_of_this_thread();
  for (const auto end = std::chrono::steady_clock::now() + 1s; std::chrono::steady_clock::now() < end;) {
    std::this_thread::sleep_for(900us);
    for (int i = 0; i < 10; ++i) emulator.run(0, Emulator::kKernelPc);
  }
  const double ready_ms = ready_ms_of_this_thread() - ready_before_ms;
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& ticks = recording.summary.trailer->ledger.vcpus.at(0).ticks;
  EXPECT_EQ(ticks.issued, sum_of_buckets(ticks));
  EXPECT_GT(ticks.unknown_idle, 0U);
  // On a busy host the timer tends to run when the vCPU wants to. By how late a tick was found all of them were the kernel's.
  EXPECT_LT(static_cast<double>(ticks.kernel), ready_ms + static_cast<double>(ticks.issued) / 2) << "of " << ticks.issued;
}

TEST_F(RecordingTest, FingerprintsAreTakenOnceAndAgainWhenTheTextChanges) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path}));
  emulator.init_vcpu(0);
  for (int round = 0; round < 3; ++round) emulator.translate(Emulator::kKernelPc, 8);
  emulator.text_change = 1;
  emulator.translate(Emulator::kKernelPc, 8);
  emulator.translate(Emulator::kUserPc, 8);
  for (uint64_t i = 1; i < 1000; ++i) emulator.translate(Emulator::kKernelPc + i * 32, 8);
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_GE(recording.fingerprints.size(), 64U);
  EXPECT_LT(recording.fingerprints.size(), 100U) << "the budget";
  EXPECT_EQ(recording.fingerprints[0].address.raw, Emulator::kKernelPc);
  EXPECT_EQ(recording.fingerprints[1].address.raw, Emulator::kKernelPc);
  EXPECT_NE(recording.fingerprints[0].bytes, recording.fingerprints[1].bytes);
  EXPECT_EQ(recording.fingerprints[0].bytes.size(), 32U);
  for (const auto& fingerprint : recording.fingerprints) EXPECT_GE(fingerprint.address.raw, Emulator::kKernelPc);
}

}  // namespace
}  // namespace fake_qemu
