#include "sampling/ledger.h"

#include <fmt/core.h>

#include <algorithm>

namespace qperf::sampling {
namespace {

capture::Ticks make_ticks(Sampler& sampler, VcpuIndex index, const WrittenCounts& written, Moment moment) {
  const Vcpu& state = sampler.vcpu(index);
  const bool shared = sampler.threading() == Threading::kOne;
  capture::Ticks ticks;
  // The buckets before `issued`: a tick counted in between then shows as not yet taken, never as taken twice.
  ticks.kernel = written.weight_stored;
  ticks.user = value(state.user_ticks);
  ticks.other_privileged = value(state.other_privileged_ticks);
  ticks.idle = value(state.idle_ticks) + value(state.idle_ticks_by_timer);
  ticks.unknown_idle = value(state.unknown_idle_ticks);
  ticks.issued = shared ? value(state.taken_shared_ticks) : value(state.issued_ticks);
  if (moment == Moment::kEnd && !shared && state.idle.load(std::memory_order_relaxed))
    ticks.idle += std::atomic_ref(sampler.words().words(index).due).load(std::memory_order_relaxed);
  if (moment == Moment::kEnd && shared && index.raw == 0) {
    ticks.issued += sampler.shared_pending_ticks();
    ticks.unknown_idle += sampler.shared_pending_ticks();
  }
  const uint64_t taken = ticks.kernel + ticks.user + ticks.idle + ticks.other_privileged + ticks.unknown_idle;
  ticks.lost = ticks.issued - std::min(taken, ticks.issued);
  return ticks;
}

}  // namespace

capture::Ledger make_ledger(Sampler& sampler, const std::vector<WrittenCounts>& written, Moment moment, WallNs now,
                            WallNs stopped_ns) {
  const guest::Mode mode = sampler.options().mode;
  capture::Ledger ledger{.wall_ns = now,
                         .stopped_ns = stopped_ns,
                         .blocks_without_slot = sampler.blocks().refused(),
                         .fingerprints_dropped = sampler.fingerprints().dropped(),
                         .vcpus = {}};
  for (uint32_t i = 0; i < sampler.max_vcpus(); ++i) {
    const VcpuIndex index{i};
    const Vcpu& state = sampler.vcpu(index);
    if (!state.ever_online.load(std::memory_order_acquire)) continue;  // pairs with Sampler::vcpu_online()
    capture::VcpuLedger entry{.vcpu = index, .ticks = {}};
    if (mode == guest::Mode::kWall) entry.ticks = make_ticks(sampler, index, written[i], moment);
    entry.kernel_insns = mode == guest::Mode::kExact ? written[i].exact_insns : sampler.kernel_insns(index);
    entry.samples_stored = written[i].stored;
    entry.dropped_queue_full = value(state.dropped_queue_full);
    entry.dropped_writer = written[i].dropped;
    entry.samples_taken = entry.samples_stored + entry.dropped_queue_full + entry.dropped_writer;
    entry.weight_stored = written[i].weight_stored;
    entry.walks_by_stop = written[i].walks_by_stop;
    ledger.vcpus.push_back(entry);
  }
  return ledger;
}

std::string describe(const capture::Ledger& ledger, guest::Mode mode, bool idle_known) {
  uint64_t stored = 0;
  uint64_t dropped_queue_full = 0;
  uint64_t dropped_writer = 0;
  uint64_t kernel_insns = 0;
  capture::Ticks sum;
  for (const auto& vcpu : ledger.vcpus) {
    stored += vcpu.samples_stored;
    dropped_queue_full += vcpu.dropped_queue_full;
    dropped_writer += vcpu.dropped_writer;
    kernel_insns += vcpu.kernel_insns;
    sum.issued += vcpu.ticks.issued;
    sum.kernel += vcpu.ticks.kernel;
    sum.user += vcpu.ticks.user;
    sum.idle += vcpu.ticks.idle;
    sum.other_privileged += vcpu.ticks.other_privileged;
    sum.lost += vcpu.ticks.lost;
    sum.unknown_idle += vcpu.ticks.unknown_idle;
  }
  std::string text = fmt::format("{} samples, dropped {} (queue full {}, writer {})", stored,
                                 dropped_queue_full + dropped_writer, dropped_queue_full, dropped_writer);
  if (mode == guest::Mode::kWall)
    text += fmt::format(", {} ticks: kernel {}, user {}, idle {}, other-privileged {}, lost {}", sum.issued, sum.kernel,
                        sum.user, idle_known ? fmt::format("{}", sum.idle) : fmt::format("or blocked {}", sum.unknown_idle),
                        sum.other_privileged, sum.lost);
  text += fmt::format(", {} kernel instructions", kernel_insns);
  if (ledger.blocks_without_slot != 0) text += fmt::format(", {} blocks without slot", ledger.blocks_without_slot);
  return text;
}

}  // namespace qperf::sampling
