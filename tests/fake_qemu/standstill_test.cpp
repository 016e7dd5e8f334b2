#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>

#include "emulator.h"

namespace fake_qemu {
namespace {

using namespace std::chrono_literals;
using std::chrono::milliseconds;

/// Stops this process, all its threads, for `time`.
void stand_still(milliseconds time) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::kill(::getppid(), SIGSTOP);
    ::usleep(static_cast<useconds_t>(std::chrono::microseconds(time).count()));
    ::kill(::getppid(), SIGCONT);
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
}

class StandstillTest : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(emulator.install({"out=" + path, "freq=1000"})) << emulator.said;
    emulator.init_vcpu(0);
  }
  void TearDown() override { std::filesystem::remove(path); }

  void run_for(milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
      emulator.run(0, Emulator::kKernelPc);
  }

  std::string path = temporary_path("standstill.bin");
  Emulator emulator{Emulator::Machine{}};
};

TEST_F(StandstillTest, IsStoppedTimeAndNoSample) {
  run_for(300ms);
  stand_still(2500ms);
  run_for(300ms);
  stand_still(1500ms);
  emulator.exit();  // continued and ended at once
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& ledger = recording.summary.trailer->ledger;
  const auto& ticks = ledger.vcpus.at(0).ticks;
  // A busy host makes all of it longer.
  const double length_ms = static_cast<double>(recording.summary.trailer->end_wall_ns) / 1e6;
  const double stopped_ms = static_cast<double>(ledger.stopped_ns) / 1e6;
  EXPECT_GT(stopped_ms, 3900);
  EXPECT_LT(stopped_ms, length_ms - 500);
  EXPECT_NEAR(static_cast<double>(ticks.issued), length_ms - stopped_ms, 100) << "a tick each millisecond that was not stopped";
  EXPECT_EQ(ticks.issued, sum_of_buckets(ticks));
  for (const auto& sample : recording.samples) EXPECT_LT(sample.weight, 1000U) << "no sample stands for a second";
  EXPECT_NE(emulator.said.find(", stopped for "), std::string::npos) << emulator.said;
}

TEST_F(StandstillTest, SlicesOfTimeAreTheGuestsOwn) {
  for (int slice = 0; slice < 4; ++slice) {
    run_for(50ms);
    stand_still(200ms);
  }
  run_for(50ms);
  emulator.exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  EXPECT_EQ(recording.summary.trailer->ledger.stopped_ns, 0U);
  EXPECT_NEAR(static_cast<double>(recording.summary.trailer->ledger.vcpus.at(0).ticks.issued),
              static_cast<double>(recording.summary.trailer->end_wall_ns) / 1e6, 100);
}

}  // namespace
}  // namespace fake_qemu
