#include "sampling/ledger.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

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
  ticks.issued = shared ? value(state.taken_shared_ticks) + ticks.unknown_idle : value(state.issued_ticks);
  if (moment == Moment::kEnd && !shared && state.idle.load(std::memory_order_relaxed))
    sampler.words().while_still(
        [&] { ticks.idle += std::atomic_ref(sampler.words().words(index).due).load(std::memory_order_relaxed); });
  if (moment == Moment::kEnd && shared && index.raw == 0) ticks.issued += sampler.shared_pending_ticks();
  const uint64_t taken = ticks.kernel + ticks.user + ticks.idle + ticks.other_privileged + ticks.unknown_idle;
  ticks.lost = ticks.issued - std::min(taken, ticks.issued);
  return ticks;
}

void add_events(Sampler& sampler, const WrittenCounts& written, capture::VcpuLedger& entry) {
  if (!sampler.tracer().active()) return;
  const EventQueue& queue = sampler.tracer().queue(entry.vcpu);
  entry.events_stored = written.events_stored;
  entry.events_dropped_writer = written.events_dropped;
  // Before `taken`: an event counted in between then shows as under way.
  entry.events_dropped_queue_full = queue.dropped();
  entry.events_taken = queue.taken();
}

uint64_t total(const capture::EventCounts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

std::string by_class(const capture::EventCounts& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", capture::event_class_name(static_cast<capture::EventClass>(i)), counts[i]);
  }
  return text;
}

/// "dropped 5 (vcpu 0: switch 2; vcpu 1: wake 3)"
std::string drops(std::string_view what, const capture::Ledger& ledger, capture::EventCounts capture::VcpuLedger::*cause) {
  uint64_t all = 0;
  std::string text;
  for (const auto& vcpu : ledger.vcpus) {
    const uint64_t dropped = total(vcpu.*cause);
    if (dropped == 0) continue;
    all += dropped;
    text += fmt::format("{}vcpu {}: {}", text.empty() ? "" : "; ", vcpu.vcpu.raw, by_class(vcpu.*cause));
  }
  return all == 0 ? fmt::format("{} 0", what) : fmt::format("{} {} ({})", what, all, text);
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
    entry.kernel_insns = mode == guest::Mode::kExact
                             ? written[i].exact_insns
                             : written[i].insns_at_stop.value_or(sampler.kernel_insns(index)) - written[i].insns_while_off;
    entry.samples_stored = written[i].stored;
    entry.dropped_queue_full = value(state.dropped_queue_full);
    entry.dropped_writer = written[i].dropped;
    entry.samples_taken = entry.samples_stored + entry.dropped_queue_full + entry.dropped_writer;
    entry.weight_stored = written[i].weight_stored;
    entry.walks_by_stop = written[i].walks_by_stop;
    add_events(sampler, written[i], entry);
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
  if (ledger.stopped_ns != 0) text += fmt::format(", stopped for {:.3f} s", static_cast<double>(ledger.stopped_ns) / 1e9);
  if (ledger.blocks_without_slot != 0) text += fmt::format(", {} blocks without slot", ledger.blocks_without_slot);
  return text;
}

std::string describe_events(const capture::Ledger& ledger) {
  capture::EventCounts stored{};
  uint64_t not_written = 0;
  for (const auto& vcpu : ledger.vcpus) {
    for (size_t i = 0; i < stored.size(); ++i) stored[i] += vcpu.events_stored[i];
    not_written += total(vcpu.events_dropped_writer);
  }
  std::string text = fmt::format("{} trace events", total(stored));
  if (total(stored) != 0) text += fmt::format(" ({})", by_class(stored));
  text += ", " + drops("dropped", ledger, &capture::VcpuLedger::events_dropped_queue_full);
  if (not_written != 0) text += ", " + drops("not written", ledger, &capture::VcpuLedger::events_dropped_writer);
  return text;
}

}  // namespace qperf::sampling
