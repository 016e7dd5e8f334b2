#include <gtest/gtest.h>

#include <chrono>
#include <filesystem>
#include <thread>

#include "emulator.h"

namespace fake_qemu {
namespace {

using namespace std::chrono_literals;

/// A machine whose second CPU has no register "fp" and runs the first one's code.
class LeftOutTest : public ::testing::Test {
 protected:
  void TearDown() override { std::filesystem::remove(path); }

  void start(std::vector<std::string> arguments) {
    arguments.push_back("out=" + path);
    ASSERT_TRUE(emulator.install(arguments)) << emulator.said;
    ::testing::internal::CaptureStderr();
    for (unsigned vcpu = 0; vcpu < 3; ++vcpu) std::thread([&] { emulator.init_vcpu(vcpu); }).join();
    said = ::testing::internal::GetCapturedStderr();
    EXPECT_NE(said.find("vCPU 1 has no register \"fp\""), std::string::npos) << said;
    EXPECT_NE(said.find("left out"), std::string::npos) << said;
    EXPECT_EQ(said.find("left out"), said.rfind("left out")) << "said once: " << said;
  }

  /// All in turns: 1000 blocks each.
  void run_all() {
    for (int i = 0; i < 1000; ++i)
      for (unsigned vcpu = 0; vcpu < 3; ++vcpu) run_both(vcpu);
  }
  void run_both(unsigned vcpu) {
    emulator.run(vcpu, Emulator::kKernelPc);
    emulator.run(vcpu, Emulator::kUserPc);
  }

  Recording end() {
    emulator.exit();
    EXPECT_NE(emulator.said.find("QPerf capture complete"), std::string::npos) << emulator.said;
    auto recording = read_recording(path);
    EXPECT_TRUE(recording.summary.trailer);
    std::vector<uint32_t> vcpus;
    for (const auto& vcpu : recording.summary.trailer->ledger.vcpus) vcpus.push_back(vcpu.vcpu.raw);
    EXPECT_EQ(vcpus, (std::vector<uint32_t>{0, 2}));
    return recording;
  }

  std::string path = temporary_path("left_out.bin");
  std::string said;
  Emulator emulator{Emulator::Machine{.vcpus = 3, .lack_frame_pointer = {1}}};
};

TEST_F(LeftOutTest, ByTheClockTheOthersGoOn) {
  start({"freq=1000"});
  for (const auto end = std::chrono::steady_clock::now() + 500ms; std::chrono::steady_clock::now() < end;) {
    run_all();
    emulator.idle(1);
    emulator.resume(1);
  }
  const auto recording = end();
  for (const auto& vcpu : recording.summary.trailer->ledger.vcpus) {
    EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks));
    EXPECT_GT(vcpu.ticks.issued, 100U);
    EXPECT_LT(vcpu.ticks.lost, vcpu.ticks.issued / 4) << "what was due at the end";
  }
}

TEST_F(LeftOutTest, ByInstructionsTheOthersGoOn) {
  start({"mode=icount", "period=1000"});
  for (int round = 0; round < 10; ++round) run_all();
  const auto recording = end();
  EXPECT_EQ(recording.samples.size(), 200U) << "a hundred a vCPU";
  for (const auto& vcpu : recording.summary.trailer->ledger.vcpus) EXPECT_EQ(vcpu.kernel_insns, 100000U);
}

TEST_F(LeftOutTest, ExactCountsAreTheOthers) {
  start({"mode=exact"});
  run_all();
  uint64_t executions = 0;
  for (const auto& count : end().counts) executions += count.executions;
  EXPECT_EQ(executions, 2000U);
}

}  // namespace
}  // namespace fake_qemu
