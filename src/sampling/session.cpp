#include "sampling/session.h"

#include <unistd.h>

#include <cstdlib>

#include "sampling/build_id.h"
#include "sampling/clock.h"

namespace qperf::sampling {
namespace {

void report_one_thread(uint32_t max_vcpus) {
  report("qperf: vCPUs share one thread (icount or thread=single): QEMU reports no idle time then, it is recorded as unknown");
  if (max_vcpus > 1)
    report("qperf: vCPUs that share one thread cannot be told apart: everything is recorded as vCPU 0, at a call a block");
}

std::string absolute(const std::string& path) {
  char* const resolved = realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  std::string result = resolved;
  std::free(resolved);  // NOLINT: realpath's
  return result;
}

Result<capture::Header> make_header(const Options& options, const HostFacts& facts, uint64_t start_ns) {
  capture::Header header;
  header.target = facts.target;
  header.mode = options.mode;
  if (options.mode == guest::Mode::kWall) header.freq_hz = options.freq_hz;
  if (options.mode == guest::Mode::kIcount) {
    header.period_insns = options.period_insns;
    header.jitter_percent = options.jitter_percent;
  }
  header.kernel_range = options.kernel_range;
  header.vcpus = facts.vcpus;
  header.max_vcpus = facts.max_vcpus;
  header.start_monotonic_ns = start_ns;
  header.start_realtime_ns = clock_ns(CLOCK_REALTIME) - (clock_ns() - start_ns);
  header.idle_known = !facts.one_thread;
  header.plugin_api = facts.plugin_api;
  header.qperf_version = QPERF_VERSION;
  header.qemu_version = facts.qemu_version;
  header.qemu_command_line = facts.command_line;
  header.plugin_arguments = facts.plugin_arguments;
  header.trace_address = options.trace_address;
  header.max_frames = options.max_frames;
  header.max_stack_bytes = options.max_stack_bytes;
  if (!options.elf_path.empty()) {
    QPERF_ASSIGN_OR_RETURN(header.elf_build_id, read_build_id(options.elf_path));
    header.elf_path = absolute(options.elf_path);
  }
  return header;
}

}  // namespace

Session::Session(const Options& options, const HostFacts& facts, WordsSource& words)
    : sampler_(options, facts.target, facts.max_vcpus, words, clock_ns()),
      ticker_(sampler_, report),
      recorder_(sampler_, ticker_, report),
      vcpus_at_start_(facts.vcpus) {}

Result<std::unique_ptr<Session>> Session::create(const Options& options, const HostFacts& facts, WordsSource& words) {
  std::unique_ptr<Session> session(new Session(options, facts, words));
  QPERF_RETURN_IF_ERROR(session->sampler_.allocate());
  QPERF_ASSIGN_OR_RETURN(const capture::Header header, make_header(options, facts, session->sampler_.start_ns()));
  QPERF_RETURN_IF_ERROR(session->recorder_.open(header));
  if (facts.one_thread) {
    session->sampler_.set_threading(Threading::kOne);
    report_one_thread(facts.max_vcpus);
  }
  return session;
}

void Session::start() {
  recorder_.start();
  if (sampler_.options().mode == guest::Mode::kWall) ticker_.start();
}

void Session::vcpu_online(VcpuIndex vcpu, int thread_id) {
  sampler_.vcpu_online(vcpu);
  const std::lock_guard lock(online_mutex_);
  if (first_thread_id_ == 0) {
    first_thread_id_ = thread_id;
  } else if (thread_id == first_thread_id_ && sampler_.threading() == Threading::kPerVcpu) {
    // Not on the command line, so from a configuration file. No vCPU has run yet: all are initialised before.
    sampler_.set_threading(Threading::kOne);
    recorder_.idle_is_unknown();
    report_one_thread(sampler_.max_vcpus());
  }
  vcpu_has_come();
}

void Session::vcpu_has_come() {
  if (++vcpus_come_ != vcpus_at_start_) return;
  ticker_.begin(sampler_.threading() == Threading::kOne ? std::optional(first_thread_id_) : std::nullopt);
}

void Session::leave_out(const std::string& why) {
  report("qperf: " + why + ": this vCPU is left out, the others are recorded");
  const std::lock_guard lock(online_mutex_);
  vcpu_has_come();
}

void Session::abandon(const std::string& why) {
  if (abandoned_.exchange(true, std::memory_order_relaxed)) return;
  report("qperf: " + why);
  recorder_.abandon(why);
}

void Session::finish() { recorder_.finish(); }

void report(const std::string& line) {
  const std::string text = line + "\n";
  [[maybe_unused]] const auto ignored = ::write(STDERR_FILENO, text.data(), text.size());  // nobody left to tell
}

}  // namespace qperf::sampling
