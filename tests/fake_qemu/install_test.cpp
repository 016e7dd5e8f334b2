#include <fcntl.h>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <sys/file.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "emulator.h"
#include "sampling/options.h"

namespace fake_qemu {
namespace {

using qperf::sampling::OptionKind;
using qperf::sampling::OptionRow;

/// What the plugin says when it refuses; fails the test if it does not.
std::string refusal(std::vector<std::string> arguments, Emulator::Machine machine = {}) {
  Emulator emulator(std::move(machine));
  EXPECT_FALSE(emulator.install(arguments)) << "accepted: " << (arguments.empty() ? "" : arguments.back());
  return emulator.said;
}

std::vector<std::string> with_out(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), "out=" + temporary_path("install.bin"));
  return arguments;
}

TEST(Install, EveryNumberOfTheTableIsHeldToItsLimits) {
  size_t rows = 0;
  for (const OptionRow& row : qperf::sampling::option_table()) {
    if (row.kind != OptionKind::kNumber) continue;
    ++rows;
    std::vector<std::string> values = {"", "ten", "-1", fmt::format("{}", row.greatest + 1)};
    if (row.least > 0) values.push_back(fmt::format("{}", row.least - 1));
    for (const auto& value : values) {
      const auto said = refusal(with_out({fmt::format("{}={}", row.name, value)}));
      EXPECT_NE(said.find(fmt::format("{}={}: ", row.name, value)), std::string::npos) << said;
      EXPECT_NE(said.find(fmt::format("{} to {}", row.least, row.greatest)), std::string::npos) << said;
    }
  }
  EXPECT_GE(rows, 7U);
}

TEST(Install, OtherMistakesAreRefusedByName) {
  const std::pair<const char*, const char*> cases[] = {
      {"frq=99", "frq: no such argument"},  {"mode=fast", "wall, icount or exact"},     {"kernel=9:8", "LO is above HI"},
      {"kernel=9", "kernel=9: LO:HI"},      {"out=/nonexistent/x", "out=/nonexistent/x"}, {"out=/", "out=/: cannot be opened"},
      {"elf=/nonexistent", "elf=/nonexistent"}, {"elf=/etc/passwd", "no ELF file"},     {"trace=0x1000", "outside kernel="},
      {"trace=0xffffffff80000001", "multiple of 2"}, {"foo=on", "foo: no such argument"}, {"control=", "a path is needed"}};
  for (const auto& [argument, expected] : cases) {
    std::vector<std::string> arguments = {argument};
    if (!arguments[0].starts_with("out=")) arguments = with_out(arguments);
    const auto said = refusal(arguments);
    EXPECT_NE(said.find(expected), std::string::npos) << argument << " got: " << said;
    EXPECT_TRUE(said.starts_with("qperf: ")) << said;
  }
  EXPECT_NE(refusal(with_out({"freq=1", "freq=2"})).find("freq: given twice"), std::string::npos);
}

TEST(Install, HelpPrintsTheTableAndDoesNotStart) {
  const auto said = refusal({"help=on"});
  for (const OptionRow& row : qperf::sampling::option_table())
    EXPECT_NE(said.find(fmt::format("{}={}", row.name, row.value_name)), std::string::npos);
}

TEST(Install, OtherTargetsAndUserModeAreRefused) {
  for (const char* target : {"arm", "i386", "riscv32", "ppc64", "", "riscv64be"}) {
    const auto said = refusal(with_out({}), {.target = target});
    EXPECT_NE(said.find("riscv64, loongarch64, aarch64, x86_64"), std::string::npos) << said;
  }
  EXPECT_NE(refusal(with_out({}), {.system = false}).find("user-mode emulation"), std::string::npos);
  EXPECT_NE(refusal(with_out({}), {.vcpus = 1, .max_vcpus = 100000}).find("at most"), std::string::npos);
}

TEST(Install, ABusyFileIsRefused) {
  const auto path = temporary_path("locked.bin");
  std::ofstream(path) << "somebody's capture";
  const int fd = ::open(path.c_str(), O_WRONLY);
  ASSERT_EQ(::flock(fd, LOCK_EX | LOCK_NB), 0);
  EXPECT_NE(refusal({"out=" + path}).find("another capture is being written to it"), std::string::npos);
  EXPECT_EQ(std::filesystem::file_size(path), 18U) << "the other's bytes are still there";
  ::close(fd);
  std::filesystem::remove(path);
}

TEST(Install, WhatIsNoCaptureIsNotWrittenOver) {
  const auto path = temporary_path("kernel.elf");
  for (const char* bytes : {"\x7f" "ELF and much more", "QP"}) {
    std::ofstream(path) << bytes;
    EXPECT_NE(refusal({"out=" + path}).find("is no capture of qperf's and not empty"), std::string::npos);
    std::ifstream file(path);
    EXPECT_EQ(std::string(std::istreambuf_iterator<char>(file), {}), bytes);
    std::filesystem::remove(path);
  }
}

TEST(Install, SocketPathsAreChecked) {
  const auto path = temporary_path("taken.sock");
  std::ofstream(path) << "";
  EXPECT_NE(refusal(with_out({"control=" + path})).find("already exists"), std::string::npos);
  EXPECT_TRUE(std::filesystem::exists(path)) << "what was there is not removed";
  std::filesystem::remove(path);
  EXPECT_NE(refusal(with_out({"control=/tmp/" + std::string(200, 'x')})).find("too long"), std::string::npos);
  EXPECT_NE(refusal(with_out({"control=/nonexistent/x"})).find("cannot be created"), std::string::npos);
}

TEST(Install, ACpuWithoutTheRegistersIsNamedAndQemuEnds) {
  Emulator emulator({.lack_frame_pointer = {0}});
  const auto path = temporary_path("noregs.bin");
  ASSERT_TRUE(emulator.install({"out=" + path}));
  EXPECT_EXIT(emulator.init_vcpu(0), ::testing::ExitedWithCode(1), "has no register \"fp\"");
  emulator.exit();
  EXPECT_FALSE(std::filesystem::exists(path)) << "nothing was recorded";
}

/// A file with an earlier capture, or what stands for one.
class EarlierCapture : public ::testing::Test {
 protected:
  void SetUp() override { std::ofstream(path) << kBytes; }
  void TearDown() override { std::filesystem::remove(path); }
  [[nodiscard]] bool is_untouched() const {
    std::ifstream file(path);
    return std::string(std::istreambuf_iterator<char>(file), {}) == kBytes;
  }

  static inline const std::string kBytes = std::string("QPERF\0an earlier capture", 24);
  const std::string path = temporary_path("earlier.bin");
  const std::string out = "out=" + path;
};

TEST_F(EarlierCapture, OutlivesAStartThatIsRefused) {
  const auto taken = temporary_path("stale.sock");
  std::ofstream(taken) << "";
  EXPECT_NE(refusal({out, "control=" + taken}).find("already exists"), std::string::npos);
  std::filesystem::remove(taken);
  EXPECT_TRUE(is_untouched()) << "a stale socket";
  refusal({out, "control=/nonexistent/x"});
  refusal({out, "elf=/etc/passwd"});
  refusal({out, "freq=0"});
  EXPECT_TRUE(is_untouched()) << "other arguments";
}

TEST_F(EarlierCapture, OutlivesACpuThatCannotBeProfiled) {
  Emulator emulator({.lack_frame_pointer = {0}});
  ASSERT_TRUE(emulator.install({out}));
  EXPECT_EXIT(emulator.init_vcpu(0), ::testing::ExitedWithCode(1), "has no register");
  emulator.exit();
  EXPECT_TRUE(is_untouched());
}

TEST_F(EarlierCapture, OutlivesAnEmulatorThatEndsBeforeItsGuestRuns) {
  for (const unsigned vcpus : {0U, 2U}) {
    Emulator emulator({.vcpus = 2});
    ASSERT_TRUE(emulator.install({out}));
    for (unsigned i = 0; i < vcpus; ++i) emulator.init_vcpu(i);
    emulator.exit();
    EXPECT_TRUE(is_untouched());
    EXPECT_NE(emulator.said.find("QPerf capture NONE (the guest has not run)"), std::string::npos) << emulator.said;
  }
}

TEST_F(EarlierCapture, IsReplacedOnceTheGuestRuns) {
  Emulator emulator({});
  ASSERT_TRUE(emulator.install({out, "mode=icount"}));
  emulator.init_vcpu(0);
  emulator.run(0, Emulator::kUserPc);
  emulator.exit();
  const auto recording = read_recording(path);
  EXPECT_TRUE(recording.summary.trailer);
  EXPECT_TRUE(recording.samples.empty());
}

}  // namespace
}  // namespace fake_qemu
