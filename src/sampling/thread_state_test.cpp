#include "sampling/thread_state.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>

namespace qperf::sampling {
namespace {

TEST(ThreadState, TheLetterFollowsTheName) {
  EXPECT_EQ(ThreadState::letter("12 (CPU 0/TCG) R 1 1 1 0 -1 4194304"), 'R');
  EXPECT_EQ(ThreadState::letter("12 (a) S (b) D) S 1 1"), 'S') << "a thread may be called anything";
  EXPECT_EQ(ThreadState::letter("12 (CPU 0/TCG) "), std::nullopt);
  EXPECT_EQ(ThreadState::letter("12 CPU"), std::nullopt);
  EXPECT_EQ(ThreadState::letter(""), std::nullopt);
}

TEST(ThreadState, TellsAThreadThatWaitsFromOneThatRuns) {
  std::atomic<int> id{0};
  std::atomic<bool> busy{true};
  std::mutex mutex;
  std::condition_variable wake;
  bool done = false;
  std::thread thread([&] {
    id = ::gettid();
    while (busy) {
    }
    std::unique_lock lock(mutex);
    wake.wait(lock, [&] { return done; });
  });
  while (id == 0) std::this_thread::yield();
  ThreadState state;
  EXPECT_FALSE(state.sleeps()) << "unknown is no evidence of sleep";
  ASSERT_TRUE(state.open(id));
  for (int i = 0; i < 20; ++i) {
    EXPECT_FALSE(state.sleeps()) << "it spins, whether the host lets it or not";
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  busy = false;
  for (int i = 0; i < 1000 && !state.sleeps(); ++i) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  EXPECT_TRUE(state.sleeps());
  {
    const std::lock_guard lock(mutex);
    done = true;
  }
  wake.notify_all();
  thread.join();
  EXPECT_FALSE(state.sleeps()) << "it has ended";
}

TEST(ThreadState, AThreadThatIsNotThereIsNamed) {
  ThreadState state;
  const auto opened = state.open(0);
  ASSERT_FALSE(opened);
  EXPECT_NE(opened.error().message.find("/proc/self/task/0/stat"), std::string::npos);
}

}  // namespace
}  // namespace qperf::sampling
