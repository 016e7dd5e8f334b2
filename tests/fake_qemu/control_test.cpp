#include <gtest/gtest.h>
#include <poll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <filesystem>
#include <thread>

#include "emulator.h"

namespace fake_qemu {
namespace {

using namespace std::chrono_literals;

/// A client of the control socket.
class Client {
 public:
  explicit Client(const std::string& path) : fd_(::socket(AF_UNIX, SOCK_STREAM, 0)) {
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    path.copy(address.sun_path, sizeof address.sun_path - 1);
    EXPECT_EQ(::connect(fd_, reinterpret_cast<const sockaddr*>(&address), sizeof address), 0);
  }
  ~Client() { ::close(fd_); }

  void send(const std::string& text) { EXPECT_EQ(::send(fd_, text.data(), text.size(), MSG_NOSIGNAL), static_cast<ssize_t>(text.size())); }

  /// The next line, or "" if the other side has closed or says nothing for ten seconds.
  std::string line() {
    while (buffer_.find('\n') == std::string::npos) {
      pollfd polled{.fd = fd_, .events = POLLIN, .revents = 0};
      char bytes[512];
      if (::poll(&polled, 1, 10000) <= 0) return "";
      const ssize_t received = ::recv(fd_, bytes, sizeof bytes, 0);
      if (received <= 0) return "";
      buffer_.append(bytes, static_cast<size_t>(received));
    }
    const auto end = buffer_.find('\n');
    const std::string result = buffer_.substr(0, end);
    buffer_.erase(0, end + 1);
    return result;
  }

  std::string ask(const std::string& command) {
    send(command + "\n");
    return line();
  }

 private:
  int fd_;
  std::string buffer_;
};

class ControlTest : public ::testing::Test {
 protected:
  void start(const std::string& mode = "wall") {
    emulator.emplace(Emulator::Machine{});
    std::vector<std::string> arguments = {"out=" + path, "control=" + socket, "mode=" + mode};
    if (mode == "wall") arguments.push_back("freq=1000");
    ASSERT_TRUE(emulator->install(arguments)) << emulator->said;
    emulator->init_vcpu(0);
    emulator->translate(Emulator::kKernelPc, 10);  // the guest runs
  }
  void TearDown() override {
    emulator.reset();
    std::filesystem::remove(path);
  }
  void run_for(std::chrono::milliseconds time) {
    for (const auto end = std::chrono::steady_clock::now() + time; std::chrono::steady_clock::now() < end;)
      emulator->run(0, Emulator::kKernelPc);
  }

  std::string path = temporary_path("control.bin");
  std::string socket = temporary_path("control.sock");
  std::optional<Emulator> emulator;
};

TEST_F(ControlTest, StartsSwitchedOffAndRecordsOnlyBetweenStartAndStop) {
  start();
  struct stat status {};
  ASSERT_EQ(::stat(socket.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777U, 0600U);
  Client client(socket);
  run_for(300ms);
  EXPECT_EQ(client.ask("status").rfind("ok: stopped, 0 samples", 0), 0U);
  EXPECT_EQ(client.ask("start"), "ok: started");
  run_for(300ms);
  EXPECT_EQ(client.ask("stop"), "ok: stopped");
  run_for(300ms);
  emulator->exit();
  EXPECT_FALSE(std::filesystem::exists(socket)) << "removed at the end";
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  const auto& ledger = recording.summary.trailer->ledger;
  EXPECT_NEAR(static_cast<double>(ledger.vcpus.at(0).ticks.issued), 300, 150);
  EXPECT_EQ(ledger.vcpus[0].ticks.issued, sum_of_buckets(ledger.vcpus[0].ticks));
  EXPECT_NEAR(static_cast<double>(ledger.stopped_ns) / 1e6, 600, 300);
}

TEST_F(ControlTest, TheFileIsTheRecordingsOnlyOnceTheGuestRuns) {
  emulator.emplace(Emulator::Machine{});
  ASSERT_TRUE(emulator->install({"out=" + path, "control=" + socket}));
  emulator->init_vcpu(0);
  Client client(socket);
  EXPECT_EQ(client.ask("file").rfind("err: the guest has not started yet", 0), 0U);
  emulator->run(0, Emulator::kKernelPc);
  EXPECT_EQ(client.ask("file").rfind("ok: ", 0), 0U);
}

TEST_F(ControlTest, UnknownCommandsAreAnsweredAndHarmless) {
  start();
  Client client(socket);
  EXPECT_EQ(client.ask("file"), "ok: " + std::filesystem::absolute(path).lexically_normal().string());
  EXPECT_EQ(client.ask("dance").rfind("err: unknown command: dance", 0), 0U);
  EXPECT_EQ(client.ask("").rfind("err: unknown command: ", 0), 0U);
  EXPECT_EQ(client.ask("\x1b[2J").find('\x1b'), std::string::npos);
  EXPECT_EQ(client.ask("start\r"), "ok: started");
  client.send("sta");
  client.send("tus\nstop\n");
  EXPECT_EQ(client.line().rfind("ok: started", 0), 0U);
  EXPECT_EQ(client.line(), "ok: stopped");
  client.send(std::string(10000, 'x'));
  EXPECT_EQ(client.line().rfind("err: line too long", 0), 0U);
  EXPECT_EQ(client.line(), "") << "and disconnected";
  EXPECT_EQ(Client(socket).ask("status").rfind("ok: stopped", 0), 0U) << "others are still served";
}

TEST_F(ControlTest, QuitFinishesTheCaptureAndTheGuestGoesOn) {
  start();
  Client client(socket);
  client.ask("start");
  run_for(200ms);
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(client.ask("quit"), "ok: finished");
  const auto said = ::testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("QPerf capture complete"), std::string::npos) << said;
  run_for(100ms);
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer);
  EXPECT_EQ(recording.summary.trailer->reason, qperf::capture::EndReason::kControlQuit);
  EXPECT_GT(recording.samples.size(), 0U);
  emulator->exit();
  EXPECT_EQ(emulator->said.find("QPerf capture"), std::string::npos) << "said once";
}

TEST_F(ControlTest, ExactCountsOnlyWhatRanWhileSwitchedOn) {
  start("exact");
  Client client(socket);
  for (int i = 0; i < 100; ++i) emulator->run(0, Emulator::kKernelPc);
  client.ask("start");
  for (int i = 0; i < 10; ++i) emulator->run(0, Emulator::kKernelPc);
  client.ask("stop");
  for (int i = 0; i < 1000; ++i) emulator->run(0, Emulator::kKernelPc);
  emulator->exit();
  uint64_t executions = 0;
  for (const auto& count : read_recording(path).counts) executions += count.executions;
  EXPECT_EQ(executions, 10U);
  EXPECT_EQ(read_recording(path).summary.trailer->ledger.vcpus.at(0).kernel_insns, 100U) << "as the counts say";
  EXPECT_NE(emulator->said.find(", 100 kernel instructions"), std::string::npos) << emulator->said;
}

TEST_F(ControlTest, InstructionsCountOnlyWhileSwitchedOn) {
  for (const char* mode : {"icount", "wall"}) {
    start(mode);
    Client client(socket);
    const auto run = [&](int blocks) {
      for (int i = 0; i < blocks; ++i) emulator->run(0, Emulator::kKernelPc);
    };
    run(100);
    client.ask("start");
    run(50);
    client.ask("stop");
    run(1000);
    EXPECT_NE(client.ask("status").find(", 500 kernel instructions"), std::string::npos);
    client.ask("start");
    run(7);
    emulator->exit();
    EXPECT_EQ(read_recording(path).summary.trailer->ledger.vcpus.at(0).kernel_insns, 570U) << mode;
    emulator.reset();
  }
}

TEST_F(ControlTest, ADiskThatFillsUpStopsTheCaptureWithOneMessage) {
  // A limit on the file's size is the full disk that a test can have.
  emulator.emplace(Emulator::Machine{});
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_TRUE(emulator->install({"out=" + path, "mode=icount", "period=1000"}));
  emulator->init_vcpu(0);
  emulator->translate(Emulator::kKernelPc, 10);
  ::testing::internal::CaptureStderr();
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{.rlim_cur = std::filesystem::file_size(path) + 64, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  run_for(2500ms);
  setrlimit(RLIMIT_FSIZE, &before);
  auto said = ::testing::internal::GetCapturedStderr();
  emulator->exit();
  said += emulator->said;
  EXPECT_NE(said.find("File too large; the capture ends here, the guest goes on"), std::string::npos) << said;
  EXPECT_EQ(said.find("cannot be written"), said.rfind("cannot be written")) << "once";
  EXPECT_NE(said.find("QPerf capture INCOMPLETE"), std::string::npos) << said;
  EXPECT_EQ(said.find("QPerf capture complete"), std::string::npos) << said;
  EXPECT_EQ(said.find("writer 0)"), std::string::npos) << "what was taken and not written is counted: " << said;
  EXPECT_TRUE(read_recording(path).summary.integrity.damaged_chunks == 0 && !read_recording(path).summary.integrity.cut)
      << "the half chunk is taken back";
}

TEST_F(ControlTest, AFullDisksLastBytesHoldTheFinishedMark) {
  emulator.emplace(Emulator::Machine{});
  std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_TRUE(emulator->install({"out=" + path, "mode=icount", "period=1000"}));
  emulator->init_vcpu(0);
  emulator->translate(Emulator::kKernelPc, 10);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  // Less than the next chunk: thousands of samples of blocks that are all different.
  const rlimit small{.rlim_cur = std::filesystem::file_size(path) + 1000, .rlim_max = before.rlim_max};
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  ::testing::internal::CaptureStderr();
  uint64_t random = 1;
  for (const auto end = std::chrono::steady_clock::now() + 1500ms; std::chrono::steady_clock::now() < end;)
    for (int i = 0; i < 100; ++i) emulator->run(0, Emulator::kKernelPc + ((random = random * 6364136223846793005U + 1) >> 50) * 4, 10);
  setrlimit(RLIMIT_FSIZE, &before);
  const auto said = ::testing::internal::GetCapturedStderr();
  emulator->exit();
  const auto recording = read_recording(path);
  ASSERT_TRUE(recording.summary.trailer) << said;
  EXPECT_EQ(recording.summary.trailer->reason, qperf::capture::EndReason::kWriteError);
  EXPECT_TRUE(recording.summary.integrity.whole()) << "no half chunk before the mark";
  const auto& vcpu = recording.summary.trailer->ledger.vcpus.at(0);
  EXPECT_GT(vcpu.dropped_writer, 0U);
  EXPECT_EQ(vcpu.samples_taken, vcpu.samples_stored + vcpu.dropped_queue_full + vcpu.dropped_writer);
  EXPECT_EQ(recording.samples.size(), vcpu.samples_stored);
}

}  // namespace
}  // namespace fake_qemu
