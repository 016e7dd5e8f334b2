#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>

#include "base/result.h"
#include "sampling/block_table.h"
#include "sampling/fingerprint_queue.h"
#include "sampling/guest_cpu.h"
#include "sampling/options.h"
#include "sampling/tracer.h"
#include "sampling/vcpu.h"
#include "sampling/words.h"

namespace qperf::sampling {

/// Whether the vCPUs share one thread (icount, thread=single): then nobody reports idle, and ticks are shared.
enum class Threading : uint8_t { kPerVcpu, kOne };

/// What the one thread does when ticks fall due (Threading::kOne only).
enum class OneThread : uint8_t {
  kRuns,    // also where the host does not let it: ticks are for the block that it is in, so for the next one that starts
  kSleeps,  // all vCPUs are idle, or it waits for something of the emulator's: no block has spent these ticks
};

/// When samples are taken and where every tick goes: the vCPU threads' side. Everything here that a vCPU thread calls is
/// noexcept and allocates, locks and writes nothing; a sample of 8 frames stays below 5 us (bench/).
class Sampler {
 public:
  Sampler(const Options& options, guest::Target target, uint32_t max_vcpus, WordsSource& words, uint64_t start_ns);

  /// Allocates queues and tables; before any vCPU runs.
  Result<void> allocate();

  /// The vCPU exists and its words can be found. Its thread, once per life.
  void vcpu_online(VcpuIndex vcpu) noexcept;
  void vcpu_offline(VcpuIndex vcpu) noexcept;

  /// A kernel block is translated: its slot (nullptr: table full). Any vCPU thread.
  [[nodiscard]] Block* block_translated(GuestVa pc, uint32_t insns) noexcept { return blocks_.intern(pc, insns); }
  /// True if offer_text() would probably take bytes now; reads the clock.
  [[nodiscard]] bool wants_text() const noexcept;
  /// Offers the first instruction bytes of a translated kernel block for the capture.
  void offer_text(Block& block, std::span<const std::byte> bytes) noexcept;

  /// The alarm went off at the start of a kernel block, whose instructions are already in Words::insns.
  /// `block` nullptr: a block without slot; its ticks and periods are taken but give no sample.
  void kernel_alarm(VcpuIndex vcpu, const Block* block, GuestCpu& cpu) noexcept;
  /// The alarm went off in a block outside the kernel range.
  void outside_alarm(VcpuIndex vcpu, GuestVa pc, GuestCpu& cpu) noexcept;
  /// For vcpus_share_code(): does at the start of a block, in a call, what generated code does inline elsewhere.
  void shared_kernel_block(const Block& block, GuestCpu& cpu) noexcept;
  void shared_outside_block(GuestVa pc, GuestCpu& cpu) noexcept;
  /// The guest is about to execute the first instruction of its trace marker, in `block` (nullptr: without slot).
  void trace_marker(VcpuIndex vcpu, const Block* block, GuestCpu& cpu) noexcept;
  void vcpu_idle(VcpuIndex vcpu) noexcept;
  void vcpu_resume(VcpuIndex vcpu) noexcept;

  /// What generated code compares: sample when Words::insns >= alarm_insns() (icount), else when Words::due != 0.
  [[nodiscard]] uint64_t alarm_insns() const noexcept { return alarm_insns_; }

  /// `ticks` have fallen due. One thread at a time: the timer's, or the one that catches up for it.
  void issue_ticks(uint64_t ticks, OneThread state = OneThread::kRuns) noexcept;

  /// Ends sampling for good and returns when no vCPU is inside an alarm any more, or after 200 ms. Not a vCPU thread.
  void quiesce() noexcept;

  void set_enabled(bool enabled) noexcept { enabled_.store(enabled, std::memory_order_relaxed); }
  [[nodiscard]] bool enabled() const noexcept { return enabled_.load(std::memory_order_relaxed); }
  void set_threading(Threading threading) noexcept { threading_.store(threading, std::memory_order_relaxed); }
  [[nodiscard]] Threading threading() const noexcept { return threading_.load(std::memory_order_relaxed); }

  /// True where several vCPUs run in one thread. QEMU (10.0.2 and 11.1.3 seen) then builds the index of the vCPU that translates
  /// into the code that all of them run, and for an index above 0 the inline operations even spoil a constant of the guest's
  /// code. So no inline operation and no index of a callback may be used: everything is counted for vCPU 0.
  [[nodiscard]] bool vcpus_share_code() const noexcept { return threading() == Threading::kOne && max_vcpus_ > 1; }

  [[nodiscard]] uint32_t max_vcpus() const noexcept { return max_vcpus_; }
  [[nodiscard]] Vcpu& vcpu(VcpuIndex vcpu) noexcept { return vcpus_[vcpu.raw]; }
  [[nodiscard]] const BlockTable& blocks() const noexcept { return blocks_; }
  [[nodiscard]] FingerprintQueue& fingerprints() noexcept { return fingerprints_; }
  [[nodiscard]] Tracer& tracer() noexcept { return tracer_; }
  [[nodiscard]] WordsSource& words() noexcept { return words_; }
  [[nodiscard]] const Options& options() const noexcept { return options_; }
  [[nodiscard]] guest::Target target() const noexcept { return target_; }
  [[nodiscard]] uint64_t start_ns() const noexcept { return start_ns_; }
  /// Kernel instructions of a vCPU so far; not for mode=exact. Any thread but a vCPU's.
  [[nodiscard]] Insns kernel_insns(VcpuIndex vcpu) noexcept;
  /// Threading::kOne: ticks nobody has taken yet.
  [[nodiscard]] uint64_t shared_pending_ticks() const noexcept { return shared_ticks_.load(std::memory_order_relaxed); }

 private:
  void issue_ticks_to(VcpuIndex vcpu, uint64_t ticks) noexcept;
  uint64_t draw_gap(Vcpu& state) noexcept;
  /// Takes all ticks that are due for this vCPU.
  uint64_t take_ticks(VcpuIndex vcpu, Vcpu& state) noexcept;
  /// Takes all whole gaps from Words::insns, carrying the remainder.
  uint64_t take_periods(Words& words, Vcpu& state) noexcept;
  void take_sample(Vcpu& state, const Block& block, Insns insns, uint64_t weight, GuestCpu& cpu) noexcept;
  void walk(SampleSlot& slot, GuestCpu& cpu) noexcept;
  void trace_vcpu(VcpuIndex vcpu, capture::EventType type) noexcept;
  /// vCPU thread.
  Insns insns_now(VcpuIndex vcpu, Vcpu& state) noexcept;

  const Options options_;
  const guest::Target target_;
  const guest::TargetInfo& target_info_;
  const uint32_t max_vcpus_;
  WordsSource& words_;
  const uint64_t start_ns_;
  unwind::StackPages stack_pages_;
  unwind::WalkLimits walk_limits_;
  Tracer tracer_;
  uint64_t jitter_insns_ = 0;  // gaps are drawn from period -/+ this
  uint64_t alarm_insns_ = 0;
  std::unique_ptr<Vcpu[]> vcpus_;
  BlockTable blocks_;
  FingerprintQueue fingerprints_;
  std::atomic<bool> enabled_{true};
  std::atomic<bool> accepting_{true};
  std::atomic<Threading> threading_{Threading::kPerVcpu};
  alignas(64) std::atomic<uint64_t> shared_ticks_{0};
};

}  // namespace qperf::sampling
