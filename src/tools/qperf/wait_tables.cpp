#include "tools/qperf/wait_tables.h"

#include <fmt/core.h>

#include <string_view>

namespace qperf::tools {

using qemutrace::Distribution;
using timeline::WaitPart;

const char* wait_direction(const timeline::DiskWait& wait) noexcept { return wait.is_write ? "write" : "read"; }

WaitCounts::WaitCounts(const timeline::Split& split, const WaitChoice& chosen) {
  for (const timeline::SplitWait& wait : split.waits)
    if (!chosen || chosen(*wait.wait)) trust.add(wait);
  for (const timeline::DiskWait* wait : split.unmatched_waits)
    if (!chosen || chosen(*wait)) ++unmatched;
}

Table wait_part_table(const std::map<std::string, timeline::WaitSums>& groups) {
  Table table({{"Waits of", "group", true},
               {"Part", "part", true},
               {"Count", "count"},
               {"%", "percent"},
               {"Min us", "min_ns"},
               {"Mean", "mean_ns"},
               {"p50", "p50_ns"},
               {"p95", "p95_ns"},
               {"p99", "p99_ns"},
               {"Max", "max_ns"},
               {"Sum", "sum_ns"}});
  const auto row = [&table](const std::string& group, std::string_view part, const Distribution& d, double whole) {
    table.add({cell_text(group), cell_text(part), cell(d.count()), cell_percent(d.total(), whole), cell_us(d.quantile(0)),
               cell_us(static_cast<uint64_t>(d.mean())), cell_us(d.quantile(0.5)), cell_us(d.quantile(0.95)),
               cell_us(d.quantile(0.99)), cell_us(d.quantile(1)), cell_us(static_cast<uint64_t>(d.total()))});
  };
  for (const auto& [name, sums] : groups) {
    const double whole = sums.total.total();
    for (size_t i = 0; i < timeline::kWaitParts; ++i) {
      if (static_cast<WaitPart>(i) == WaitPart::kRun) row(name, "blocked", sums.blocked, whole);
      row(name, wait_part_name(static_cast<WaitPart>(i)), sums.parts[i], whole);
    }
    row(name, "all", sums.total, whole);
  }
  return table;
}

std::string clock_lines(const timeline::ClockMap& clock) {
  constexpr uint64_t kMuch = 1'000'000;
  std::string out = "clock: " + clock.description() + "\n";
  if (clock.residual_ns() >= kMuch)
    out += "the real-time clock was set or slewed meanwhile: a mapped stamp may be off by that much, and shorter parts mean nothing\n";
  return out;
}

std::string wait_lines(const timeline::TracedWaits& traced, const WaitCounts& counts) {
  const timeline::WaitTrust& trust = counts.trust;
  const timeline::DiskWaits& waits = *traced.waits;
  std::string out = fmt::format("{} waits with reason virtio-blk read or write: {} matched to a request ({} by its sector), {} not\n",
                                counts.waits(), trust.matched, trust.by_sector, counts.unmatched);
  out += fmt::format("in the whole capture: {} requests that no task waited for; {} outside of its time\n", traced.split.unmatched_requests,
                     traced.split.outside_requests);
  if (waits.never_blocked > 0) out += fmt::format("there too: {} blocks that cost no time: woken before the task left its CPU\n", waits.never_blocked);
  if (waits.unfinished > 0) out += fmt::format("there too: {} waits that had not ended with it\n", waits.unfinished);
  if (waits.left_out + traced.trace.left_out > 0)
    out += fmt::format("{} waits and {} requests were left out: too many\n", waits.left_out, traced.trace.left_out);
  if (trust.host_unknown > 0)
    out += fmt::format("{} requests without the host's events (thread_pool_*, luring_*): their time there counts as QEMU's\n",
                       trust.host_unknown);
  if (trust.doubtful > 0) out += fmt::format("{} matched waits have lost events in their span\n", trust.doubtful);
  out += clock_lines(traced.trace.clock);
  out += fmt::format("check: cause and effect are out of order in {} of {} matched waits", trust.contradictions, trust.matched);
  out += trust.contradictions > 0 ? fmt::format(", by {} us at most\n", cell_us(trust.worst_contradiction_ns).text) : "\n";
  out +=
      "queueing: until QEMU took the request; QEMU: its own layers; host: submitted to done; interrupt: told to woken; run: woken to "
      "running\n";
  return out;
}

void add_clock_members(const timeline::ClockMap& clock, JsonObject& out) {
  out.add("clock", cell_text(clock.description()));
  out.raw("clock_residual_ns", clock.residual_known() ? std::to_string(clock.residual_ns()) : "null");
}

void add_wait_members(const timeline::TracedWaits& traced, const WaitCounts& counts, JsonObject& out) {
  const timeline::WaitTrust& trust = counts.trust;
  out.add("waits", cell(counts.waits()));
  out.add("matched", cell(trust.matched));
  out.add("matched_by_sector", cell(trust.by_sector));
  out.add("unmatched_waits", cell(counts.unmatched));
  out.add("never_blocked", cell(traced.waits->never_blocked));
  out.add("unfinished_waits", cell(traced.waits->unfinished));
  out.add("left_out", cell(traced.waits->left_out + traced.trace.left_out));
  out.add("unmatched_requests", cell(traced.split.unmatched_requests));
  out.add("outside_requests", cell(traced.split.outside_requests));
  out.add("host_unknown", cell(trust.host_unknown));
  out.add("doubtful", cell(trust.doubtful));
  out.add("contradictions", cell(trust.contradictions));
  out.add("worst_contradiction_ns", cell(trust.worst_contradiction_ns));
}

}  // namespace qperf::tools
