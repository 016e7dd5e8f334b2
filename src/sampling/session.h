#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>

#include "base/result.h"
#include "sampling/recorder.h"
#include "sampling/sampler.h"
#include "sampling/ticker.h"

namespace qperf::sampling {

/// What the emulator's glue knows and the capture's header needs.
struct HostFacts {
  guest::Target target = guest::Target::kRiscv64;
  uint32_t vcpus = 0;
  uint32_t max_vcpus = 0;
  uint32_t plugin_api = 0;
  std::string qemu_version;      // empty: could not be told
  std::string plugin_arguments;  // as given, joined with commas
  bool one_thread = false;       // the command line asks for it
  std::string command_line;      // redacted
};

/// One recording, from the plugin's load to its end: sampler, timer thread and writer thread put together.
class Session {
 public:
  /// `words` must outlive the session. Refuses what can be refused: file busy or unwritable, socket path, ELF.
  static Result<std::unique_ptr<Session>> create(const Options& options, const HostFacts& facts, WordsSource& words);

  [[nodiscard]] Sampler& sampler() noexcept { return sampler_; }
  /// Starts the threads; after the emulator has given the words.
  void start();
  /// The guest runs code: from now on the capture's file is the new recording's. Refuses where it cannot be written. Not before,
  /// because QEMU may still refuse its other arguments, and what the file held is worth more than a start that fails.
  Result<void> begin() { return recorder_.begin(); }
  /// vCPU thread (`thread_id` is its own). When the last vCPU of the start has come, time begins to count.
  void vcpu_online(VcpuIndex vcpu, int thread_id);
  void vcpu_offline(VcpuIndex vcpu) noexcept { sampler_.vcpu_offline(vcpu); }
  /// A vCPU has come that cannot be profiled: says why. The others are recorded.
  void leave_out(const std::string& why);
  /// Nothing can be recorded: says why, once, and ends the recording.
  void abandon(const std::string& why);
  [[nodiscard]] bool abandoned() const noexcept { return abandoned_.load(std::memory_order_relaxed); }
  /// Ends the recording and joins the threads. Idempotent.
  void finish();

 private:
  Session(const Options& options, const HostFacts& facts, WordsSource& words);

  void vcpu_has_come();  // under online_mutex_

  Sampler sampler_;
  Ticker ticker_;
  Recorder recorder_;
  const uint32_t vcpus_at_start_;
  std::mutex online_mutex_;  // vCPUs come one by one, before they run
  uint32_t vcpus_come_ = 0;  // also those that are left out
  int first_thread_id_ = 0;
  std::atomic<bool> abandoned_{false};
};

/// One line on stderr, in one write.
void report(const std::string& line);

}  // namespace qperf::sampling
