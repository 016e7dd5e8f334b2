#include <gtest/gtest.h>

#include <sys/resource.h>

#include <csignal>
#include <filesystem>

#include "emulator.h"

namespace fake_qemu {
namespace {

namespace capture = qperf::capture;

constexpr uint64_t kMarker = Emulator::kKernelPc + 0x1008;  // the third instruction of a block

class TraceTest : public ::testing::Test {
 protected:
  void SetUp() override { path = temporary_path("trace.bin"); }
  void TearDown() override { std::filesystem::remove(path); }

  static void emit(Emulator& emulator, unsigned vcpu, std::array<uint64_t, 6> values) {
    emulator.argument_registers = values;
    emulator.run(vcpu, Emulator::kKernelPc + 0x1000);
  }

  std::string path;
};

TEST_F(TraceTest, OnlyTheMarkersInstructionIsHooked) {
  for (const char* mode : {"mode=wall", "mode=icount"}) {
    Emulator emulator({});  // one vCPU: two on this thread would be taken for one-thread emulation
    ASSERT_TRUE(emulator.install({"out=" + path, mode, "trace=0xffffffff80001008"})) << emulator.said;
    emulator.init_vcpu(0);
    for (int i = 0; i < 50; ++i) emulator.run(0, Emulator::kKernelPc + 64);
    emit(emulator, 0, {3, 5, 1, 4, 77, 0});
    emit(emulator, 0, {4, 5, 1, 9, 2, 0});
    emulator.idle(0);
    emulator.resume(0);
    emit(emulator, 0, {1000, 1, 2, 3, 4, 5});
    emulator.exit();
    EXPECT_NE(emulator.said.find("5 trace events (other 1, block 1, wake 1, vcpu idle 1, vcpu resume 1), dropped 0"),
              std::string::npos)
        << emulator.said;
    const auto recording = read_recording(path);
    EXPECT_TRUE(recording.summary.integrity.whole());
    ASSERT_EQ(recording.events.size(), 1U);
    const auto& first = recording.events[0];
    ASSERT_EQ(first.events.size(), 5U);
    EXPECT_EQ(first.events[0].args, (std::array<uint64_t, 5>{5, 1, 4, 77, 0}));
    EXPECT_EQ(first.events[0].insns, 500U);
    EXPECT_EQ(first.events[4].kind, 1000U);
    ASSERT_EQ(first.stacks.size(), 1U);
    EXPECT_EQ(first.stacks[0].front().raw, Emulator::kKernelPc + 0x300);
  }
}

TEST_F(TraceTest, DropsAreCountedByKindAndVcpu) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "event_queue=4", "trace=0xffffffff80001008"})) << emulator.said;
  emulator.init_vcpu(0);
  for (uint64_t i = 0; i < 2000; ++i) emit(emulator, 0, {2, i, i + 1, 2, 0, 0});
  emulator.exit();
  const auto recording = read_recording(path);
  uint64_t stored = 0;
  uint64_t lost = 0;
  uint64_t last = 0;
  for (const auto& chunk : recording.events) {
    EXPECT_EQ(chunk.stored_before, stored);
    stored += chunk.events.size();
    for (const auto& loss : chunk.losses) lost += loss.counts[static_cast<size_t>(capture::EventClass::kSwitch)];
    if (!chunk.events.empty()) last = chunk.events.back().sequence;
  }
  EXPECT_EQ(stored + lost, 2000U);
  EXPECT_GT(lost, 0U);
  EXPECT_LT(last, 2000U);
  EXPECT_NE(emulator.said.find("(vcpu 0: switch " + std::to_string(lost) + ")"), std::string::npos) << emulator.said;
}

TEST_F(TraceTest, EventsTakenAreWrittenOrDroppedByKind) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "event_queue=4", "trace=0xffffffff80001008"})) << emulator.said;
  emulator.init_vcpu(0);
  for (uint64_t i = 0; i < 3000; ++i) emit(emulator, 0, {i % 9, i, i + 1, 2, 0, 0});
  emulator.exit();
  const auto recording = read_recording(path);
  capture::EventCounts written{};
  capture::EventCounts placed{};
  for (const auto& chunk : recording.events) {
    for (const auto& event : chunk.events) ++written[static_cast<size_t>(capture::event_class(event.type, event.kind))];
    for (const auto& loss : chunk.losses)
      for (size_t i = 0; i < placed.size(); ++i) placed[i] += loss.counts[i];
  }
  ASSERT_TRUE(recording.summary.trailer);
  const auto& vcpu = recording.summary.trailer->ledger.vcpus.at(0);
  EXPECT_EQ(vcpu.events_taken, 3000U);
  EXPECT_EQ(vcpu.events_stored, written);
  EXPECT_EQ(vcpu.events_dropped_queue_full, placed);
  EXPECT_EQ(vcpu.events_dropped_writer, capture::EventCounts{});
  // Kinds 0 and 8 have no name: they are one class.
  const capture::EventCounts offered{667, 334, 334, 333, 333, 333, 333, 333};
  for (size_t i = 0; i < offered.size(); ++i) EXPECT_EQ(written[i] + placed[i], offered[i]) << i;
}

TEST_F(TraceTest, EventsThatADiskRefusesAreCountedAsNotWritten) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "event_queue=200000", "trace=0xffffffff80001008"})) << emulator.said;
  emulator.init_vcpu(0);
  emulator.translate(Emulator::kUserPc, 10);  // the header is written, and nothing else
  // A limit on the file's size is the full disk that a test can have: no chunk fits any more.
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = std::filesystem::file_size(path) + 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  for (uint64_t i = 0; i < 20000; ++i) emit(emulator, 0, {4, i, 1, 1, 1, 0});
  emulator.exit();
  setrlimit(RLIMIT_FSIZE, &before);
  // How many were taken before the failure was noticed depends on the threads' pace; none of them is in the file.
  EXPECT_NE(emulator.said.find("0 trace events, dropped 0, not written "), std::string::npos) << emulator.said;
  EXPECT_NE(emulator.said.find("(vcpu 0: wake "), std::string::npos) << emulator.said;
}

TEST_F(TraceTest, AMarkerThatNeverRunsIsTold) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "trace=" + std::to_string(kMarker)})) << emulator.said;
  emulator.init_vcpu(0);
  emulator.run(0, Emulator::kKernelPc);
  emulator.exit();
  EXPECT_NE(emulator.said.find("trace=0xffffffff80001008: never executed"), std::string::npos) << emulator.said;
}

TEST_F(TraceTest, AnEventAllocatesNothing) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({"out=" + path, "trace_stacks=all", "trace=0xffffffff80001008"})) << emulator.said;
  emulator.init_vcpu(0);
  for (int i = 0; i < 10; ++i) emit(emulator, 0, {3, 1, 1, 1, 1, 1});
  const uint64_t before = allocations_of_this_thread();
  for (uint64_t i = 0; i < 1000; ++i) emit(emulator, 0, {i % 9, 1, 1, 1, 1, 1});
  EXPECT_EQ(allocations_of_this_thread(), before);
  emulator.exit();
}

}  // namespace
}  // namespace fake_qemu
