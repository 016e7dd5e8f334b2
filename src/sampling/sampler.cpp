#include "sampling/sampler.h"

#include <algorithm>
#include <thread>

#include "base/checksum.h"
#include "sampling/alarm_guard.h"
#include "sampling/clock.h"

namespace qperf::sampling {
namespace {

size_t table_capacity(guest::Mode mode) {
  // mode=exact has a counter for each slot in every vCPU's part of the scoreboard, which the emulator touches at once.
  return mode == guest::Mode::kExact ? BlockTable::kExactCapacity : BlockTable::kDefaultCapacity;
}

}  // namespace

Sampler::Sampler(const Options& options, guest::Target target, uint32_t max_vcpus, WordsSource& words, uint64_t start_ns)
    : options_(options),
      target_(target),
      target_info_(guest::info(target)),
      max_vcpus_(max_vcpus),
      words_(words),
      start_ns_(start_ns),
      walk_limits_{target, options.kernel_range, options.max_stack_bytes, &stack_pages_},
      tracer_(options_, target, max_vcpus, start_ns) {
  const uint64_t period = options_.period_insns;
  // At 100 % the shortest gap is one instruction; the range stays symmetric, so the mean gap is exactly the period.
  jitter_insns_ = period == 0 ? 0 : std::min(period - 1, period / 100 * options_.jitter_percent +
                                                             period % 100 * options_.jitter_percent / 100);
  // The comparison's right side is fixed at translation: a shorter gap starts the count above zero instead.
  alarm_insns_ = period + jitter_insns_;
}

Result<void> Sampler::allocate() {
  vcpus_ = std::make_unique<Vcpu[]>(max_vcpus_);
  QPERF_RETURN_IF_ERROR(blocks_.allocate(table_capacity(options_.mode)));
  QPERF_RETURN_IF_ERROR(tracer_.allocate());
  if (options_.mode == guest::Mode::kExact) return {};
  for (uint32_t i = 0; i < max_vcpus_; ++i)
    QPERF_RETURN_IF_ERROR(
        vcpus_[i].samples.allocate(options_.queue_samples, SampleSlot::size_bytes(options_.max_frames)));
  return {};
}

void Sampler::vcpu_online(VcpuIndex vcpu) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  if (!state.ever_online.load(std::memory_order_relaxed)) {
    state.random = Prng(start_ns_ ^ (uint64_t{vcpu.raw} << 32));
    if (options_.mode == guest::Mode::kIcount) {
      const uint64_t gap = draw_gap(state);
      words_.words(vcpu).insns = alarm_insns_ - gap;
      state.insns_base.store(gap - alarm_insns_, std::memory_order_relaxed);
    }
  }
  // Pairs with the acquire in issue_ticks(): the words of an online vCPU may be looked up.
  state.ever_online.store(true, std::memory_order_release);
  state.online.store(true, std::memory_order_release);
}

void Sampler::vcpu_offline(VcpuIndex vcpu) noexcept { vcpus_[vcpu.raw].online.store(false, std::memory_order_release); }

bool Sampler::wants_text() const noexcept { return fingerprints_.has_budget(clock_ns() - start_ns_); }

void Sampler::offer_text(Block& block, std::span<const std::byte> bytes) noexcept {
  if (bytes.empty()) return;
  const auto hash = static_cast<uint32_t>(xxh3_64(bytes)) | 1;  // zero means none
  // Relaxed: two vCPUs that translate the same block at once may queue it twice, which is harmless.
  if (block.text_hash.load(std::memory_order_relaxed) == hash) return;
  const WallNs now = clock_ns() - start_ns_;
  if (!fingerprints_.take_budget(now)) return;
  block.text_hash.store(hash, std::memory_order_relaxed);
  fingerprints_.push(now, GuestVa{block.pc.load(std::memory_order_relaxed)}, bytes);
}

uint64_t Sampler::draw_gap(Vcpu& state) noexcept {
  if (jitter_insns_ == 0) return options_.period_insns;
  return options_.period_insns - jitter_insns_ + state.random.below(2 * jitter_insns_ + 1);
}

uint64_t Sampler::take_ticks(VcpuIndex vcpu, Vcpu& state) noexcept {
  // Pairs with the release in issue_ticks_to(): the ticks were counted as issued before.
  const uint64_t taken = std::atomic_ref(words_.words(vcpu).due).exchange(0, std::memory_order_acquire);
  if (threading() != Threading::kOne) return taken;
  const uint64_t shared = shared_ticks_.exchange(0, std::memory_order_relaxed);  // nothing was written with it
  bump(state.taken_shared_ticks, shared);
  return shared;
}

uint64_t Sampler::take_periods(Words& words, Vcpu& state) noexcept {
  uint64_t periods = 0;
  uint64_t since = words.insns;
  // A block adds at most some hundred instructions, so this ends after few rounds even where gaps are as short as they get.
  while (since >= alarm_insns_) {
    const uint64_t gap = draw_gap(state);
    since -= gap;
    bump(state.insns_base, gap);
    ++periods;
  }
  // Relaxed: pairs with nothing; kernel_insns() checks insns_base around its read.
  std::atomic_ref(words.insns).store(since, std::memory_order_relaxed);
  return periods;
}

void Sampler::kernel_alarm(VcpuIndex vcpu, const Block* block, GuestCpu& cpu) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  Words& words = words_.words(vcpu);
  const Insns through_block = value(state.insns_base) + words.insns;
  const uint64_t weight =
      options_.mode == guest::Mode::kIcount ? take_periods(words, state) : take_ticks(vcpu, state);
  if (weight == 0 || block == nullptr || !guard.accepted()) return;
  // Periods pass while sampling is switched off; ticks are not even issued then.
  if (options_.mode == guest::Mode::kIcount && !enabled_.load(std::memory_order_relaxed)) return;
  take_sample(state, *block, through_block - block->insns.load(std::memory_order_relaxed), weight, cpu);
}

void Sampler::outside_alarm(VcpuIndex vcpu, GuestVa pc, GuestCpu& cpu) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  if (!guard.accepted()) return;
  const uint64_t ticks = take_ticks(vcpu, state);
  if (ticks == 0) return;
  switch (classify_outside(target_info_.privilege_source, cpu.privilege(), pc, options_.kernel_range)) {
    case Outside::kUser: bump(state.user_ticks, ticks); break;
    case Outside::kOtherPrivileged: bump(state.other_privileged_ticks, ticks); break;
  }
}

void Sampler::shared_kernel_block(const Block& block, GuestCpu& cpu) noexcept {
  constexpr VcpuIndex kAll{0};
  // Relaxed throughout: one thread runs all blocks; only the writer reads along.
  if (options_.mode == guest::Mode::kExact) {
    const std::atomic_ref executions(words_.executions(kAll)[blocks_.index_of(block)]);
    executions.store(executions.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
    return;
  }
  Words& words = words_.words(kAll);
  const std::atomic_ref insns(words.insns);
  const uint64_t through_block = insns.load(std::memory_order_relaxed) + block.insns.load(std::memory_order_relaxed);
  insns.store(through_block, std::memory_order_relaxed);
  const bool alarm = options_.mode == guest::Mode::kIcount
                         ? through_block >= alarm_insns_
                         : std::atomic_ref(words.due).load(std::memory_order_relaxed) != 0;
  if (alarm) kernel_alarm(kAll, &block, cpu);
}

void Sampler::shared_outside_block(GuestVa pc, GuestCpu& cpu) noexcept {
  constexpr VcpuIndex kAll{0};
  if (std::atomic_ref(words_.words(kAll).due).load(std::memory_order_relaxed) != 0) outside_alarm(kAll, pc, cpu);
}

void Sampler::trace_marker(VcpuIndex vcpu, const Block* block, GuestCpu& cpu) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  if (!guard.accepted()) return;
  // The block's instructions were counted at its start.
  const Insns in_block = block == nullptr ? 0 : block->insns.load(std::memory_order_relaxed);
  tracer_.marker(vcpu, state, insns_now(vcpu, state) - in_block, cpu);
}

Insns Sampler::insns_now(VcpuIndex vcpu, Vcpu& state) noexcept {
  if (!state.ever_online.load(std::memory_order_relaxed)) return 0;
  return value(state.insns_base) + words_.words(vcpu).insns;
}

void Sampler::trace_vcpu(VcpuIndex vcpu, capture::EventType type) noexcept {
  // Where vCPUs share a thread QEMU reports no halt worth the name.
  if (!tracer_.active() || threading() == Threading::kOne) return;
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  if (guard.accepted()) tracer_.vcpu_event(vcpu, state, insns_now(vcpu, state), type);
}

void Sampler::vcpu_idle(VcpuIndex vcpu) noexcept {
  trace_vcpu(vcpu, capture::EventType::kVcpuIdle);
  if (options_.mode != guest::Mode::kWall || threading() == Threading::kOne) return;
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  if (!guard.accepted()) return;
  bump(state.idle_ticks, take_ticks(vcpu, state));
  // Relaxed: from here on the timer counts for us. A tick that misses the change is taken at resume, as idle too.
  state.idle.store(true, std::memory_order_relaxed);
}

void Sampler::vcpu_resume(VcpuIndex vcpu) noexcept {
  trace_vcpu(vcpu, capture::EventType::kVcpuResume);
  if (options_.mode != guest::Mode::kWall || threading() == Threading::kOne) return;
  Vcpu& state = vcpus_[vcpu.raw];
  const AlarmGuard guard(state.in_callback, accepting_);
  if (!guard.accepted()) return;
  state.idle.store(false, std::memory_order_relaxed);
  bump(state.idle_ticks, take_ticks(vcpu, state));
}

void Sampler::take_sample(Vcpu& state, const Block& block, Insns insns, uint64_t weight, GuestCpu& cpu) noexcept {
  const uint64_t sequence = state.next_sequence++;
  std::byte* const memory = state.samples.reserve();
  if (memory == nullptr) {
    bump(state.dropped_queue_full, 1);
    return;
  }
  auto& slot = *reinterpret_cast<SampleSlot*>(memory);
  slot.sequence = sequence;
  slot.wall_ns = clock_ns() - start_ns_;
  slot.insns = insns;
  slot.weight = weight;
  slot.block = &block;
  slot.task = state.current_task;
  walk(slot, cpu);
  state.samples.commit();
}

void Sampler::walk(SampleSlot& slot, GuestCpu& cpu) noexcept {
  const auto sp = cpu.stack_pointer();
  const auto fp = cpu.frame_pointer();
  slot.frame_count = 0;
  slot.stop = capture::StopReason::kNoFramePointer;
  const auto link = return_address(target_info_, options_.kernel_range, sp, cpu);
  slot.has_link = link.has_value();
  slot.link = guest::strip_authentication(target_, GuestVa{link.value_or(0)});
  if (!sp || !fp) return;
  const auto result = unwind::walk_frames(walk_limits_, GuestVa{*sp}, GuestVa{*fp}, cpu,
                                          std::span(slot.frames(), options_.max_frames));
  slot.frame_count = static_cast<uint32_t>(result.frames);
  slot.stop = result.stop;
}

void Sampler::issue_ticks(uint64_t ticks, OneThread state) noexcept {
  if (!enabled_.load(std::memory_order_relaxed)) return;
  if (threading() == Threading::kOne && state == OneThread::kSleeps) {
    bump(vcpus_[0].unknown_idle_ticks, ticks);
    return;
  }
  if (threading() == Threading::kOne) shared_ticks_.fetch_add(ticks, std::memory_order_relaxed);
  words_.while_still([&] {
    for (uint32_t i = 0; i < max_vcpus_; ++i) issue_ticks_to(VcpuIndex{i}, ticks);
  });
}

void Sampler::issue_ticks_to(VcpuIndex vcpu, uint64_t ticks) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  // Pairs with the release in vcpu_online().
  if (!state.online.load(std::memory_order_acquire)) return;
  if (threading() == Threading::kOne) {
    // Only a flag here: whichever vCPU runs a block first takes the shared ticks.
    std::atomic_ref(words_.words(vcpu).due).store(1, std::memory_order_relaxed);
    return;
  }
  bump(state.issued_ticks, ticks);
  if (state.idle.load(std::memory_order_relaxed)) {
    bump(state.idle_ticks_by_timer, ticks);
  } else {
    std::atomic_ref(words_.words(vcpu).due).fetch_add(ticks, std::memory_order_release);  // see take_ticks()
  }
}

void Sampler::quiesce() noexcept {
  accepting_.store(false, std::memory_order_seq_cst);  // see AlarmGuard
  for (uint32_t i = 0; i < max_vcpus_; ++i)
    for (int wait = 0; wait < 200 && vcpus_[i].in_callback.load(std::memory_order_seq_cst); ++wait)
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

Insns Sampler::kernel_insns(VcpuIndex vcpu) noexcept {
  Vcpu& state = vcpus_[vcpu.raw];
  if (!state.ever_online.load(std::memory_order_acquire)) return 0;
  Insns insns = 0;
  words_.while_still([&] {
    // Base and word change together inside an alarm only; a reading that met one is repeated.
    for (int attempt = 0; attempt < 100; ++attempt) {
      const bool met_alarm = state.in_callback.load(std::memory_order_acquire);  // pairs with ~AlarmGuard()
      const uint64_t base = state.insns_base.load(std::memory_order_acquire);
      insns = base + std::atomic_ref(words_.words(vcpu).insns).load(std::memory_order_acquire);
      if (!met_alarm && state.insns_base.load(std::memory_order_relaxed) == base) break;
    }
  });
  return insns;
}

}  // namespace qperf::sampling
