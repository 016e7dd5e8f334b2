#pragma once

#include <pthread.h>

#include <csignal>
#include <thread>
#include <utility>

namespace qperf::sampling {

/// Starts a thread that takes no signal: the emulator's own threads are meant to.
template <typename Function>
[[nodiscard]] std::thread start_worker(const char* name, Function&& function) {
  sigset_t all;
  sigset_t before;
  sigfillset(&all);
  pthread_sigmask(SIG_SETMASK, &all, &before);  // inherited by the new thread
  std::thread worker(std::forward<Function>(function));
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  pthread_setname_np(worker.native_handle(), name);
  return worker;
}

}  // namespace qperf::sampling
