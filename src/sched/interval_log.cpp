#include "sched/interval_log.h"

#include <algorithm>

namespace qperf::sched {
namespace {

constexpr uint64_t kLeastResolutionNs = uint64_t{1} << 12;
constexpr uint64_t kMostResolutionNs = uint64_t{1} << 62;

}  // namespace

void IntervalLog::add(const Interval& interval, std::optional<uint32_t> entry) {
  LoggedState state;
  if (interval.state == TaskState::kRunning) state = LoggedState::running_on(interval.vcpu);
  if (entry) state = LoggedState::waiting(*entry);
  keep(tasks_, interval.vcpu, interval.from_ns, interval.to_ns, interval.task.raw, state);
}

void IntervalLog::halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  keep(halts_, vcpu, from_ns, to_ns, vcpu.raw, LoggedState{});
}

void IntervalLog::keep(std::vector<Row>& rows, VcpuIndex vcpu, WallNs from_ns, WallNs to_ns, uint32_t owner, LoggedState state) {
  const auto spans = window_.of(vcpu).spans();
  auto span = std::ranges::upper_bound(spans, from_ns, {}, &TimeSpan::to_ns);
  for (; span != spans.end() && span->from_ns < to_ns; ++span) {
    const WallNs from = std::max(from_ns, span->from_ns);
    const WallNs until = std::min(to_ns, span->to_ns);
    if (until > from) rows.push_back({.from_ns = from, .length_ns = until - from, .owner = owner, .state = state});
  }
  if (tasks_.size() + halts_.size() >= max_rows_) make_room();
}

void IntervalLog::make_room() {
  const size_t goal = max_rows_ / 4 * 3;
  uint64_t resolution_ns = std::max(resolution_ns_, kLeastResolutionNs);
  for (; resolution_ns <= kMostResolutionNs; resolution_ns *= 2) {
    join(tasks_, resolution_ns);
    join(halts_, resolution_ns);
    resolution_ns_ = resolution_ns;
    if (tasks_.size() + halts_.size() <= goal) return;
  }
  max_rows_ *= 2;  // so many different states: the off-CPU profile and the tasks bound them
}

void IntervalLog::join(std::vector<Row>& rows, uint64_t resolution_ns) {
  const auto before = [](const Row& a, const Row& b) {
    const uint64_t of_a = uint64_t{a.owner} << 32 | a.state.raw;
    const uint64_t of_b = uint64_t{b.owner} << 32 | b.state.raw;
    return of_a != of_b ? of_a < of_b : a.from_ns < b.from_ns;
  };
  // Most of them were sorted by the last join: only what came since is out of place.
  const auto unsorted = std::ranges::is_sorted_until(rows, before);
  if (unsorted != rows.end()) {
    std::sort(unsorted, rows.end(), before);
    std::inplace_merge(rows.begin(), unsorted, rows.end(), before);
  }
  size_t kept = 0;
  for (const Row& row : rows) {
    if (kept > 0) {
      Row& last = rows[kept - 1];
      if (last.owner == row.owner && last.state == row.state && last.from_ns / resolution_ns == row.from_ns / resolution_ns) {
        last.length_ns += row.length_ns;
        continue;
      }
    }
    rows[kept++] = row;
  }
  rows.resize(kept);
}

uint64_t IntervalLog::join_until(std::vector<Row>& rows, size_t most, uint64_t resolution_ns) {
  uint64_t reached = 0;
  for (uint64_t next = std::max(resolution_ns, kLeastResolutionNs); rows.size() > most && next <= kMostResolutionNs; next *= 2) {
    join(rows, next);
    reached = next;
  }
  return reached;
}

}  // namespace qperf::sched
