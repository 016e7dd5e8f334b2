#include "sched/interval_log.h"

#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <utility>

#include "base/keyed_hash.h"


namespace qperf::sched {
namespace {

using Row = IntervalLog::Row;

constexpr uint64_t kLeastResolutionNs = uint64_t{1} << 12;
constexpr uint64_t kMostResolutionNs = uint64_t{1} << 62;

uint64_t group_of(const Row& row) noexcept { return uint64_t{row.owner} << 32 | row.state.raw; }

/// The latest row of each owner and state.
using LatestRows = tsl::robin_map<uint64_t, uint32_t, KeyedHash>;

/// How many rows begin how long after the one before of their owner and state, by the bits of that time.
using GapsByBits = std::array<size_t, 65>;

void count_gaps(const std::vector<Row>& rows, GapsByBits& gaps) {
  LatestRows latest;
  for (uint32_t i = 0; i < rows.size(); ++i) {
    const auto [position, added] = latest.try_emplace(group_of(rows[i]), i);
    if (added) continue;
    const WallNs before_ns = rows[position->second].from_ns;
    const uint64_t gap = rows[i].from_ns > before_ns ? rows[i].from_ns - before_ns : 0;
    ++gaps[static_cast<size_t>(std::bit_width(gap))];
    position.value() = i;
  }
}

/// The first stretch, doubled from `resolution_ns` on, after which about `most` of `rows` will be left: each look at the rows takes long.
/// Two that begin `gap` apart are in one stretch with a probability of 1 - gap / stretch.
uint64_t promising_resolution(const GapsByBits& gaps, size_t rows, size_t most, uint64_t resolution_ns) {
  uint64_t result = std::max(resolution_ns, kLeastResolutionNs);
  for (; result <= kMostResolutionNs / 2; result *= 2) {
    double joined = static_cast<double>(gaps[0]);
    for (size_t bits = 1; bits < gaps.size(); ++bits) {
      const double gap = 0.75 * std::exp2(static_cast<double>(bits));
      joined += static_cast<double>(gaps[bits]) * std::max(0.0, 1 - gap / static_cast<double>(result));
    }
    if (static_cast<double>(rows) - joined <= static_cast<double>(most)) break;
  }
  return result;
}

/// False: some rows of a group did not ascend in time, and not all that begin in one stretch were joined.
bool join_in_order(std::vector<Row>& rows, uint64_t resolution_ns) {
  LatestRows latest;
  bool in_order = true;
  uint32_t kept = 0;
  for (const Row row : rows) {
    const auto [position, added] = latest.try_emplace(group_of(row), kept);
    if (!added) {
      Row& last = rows[position->second];
      in_order &= row.from_ns >= last.from_ns;
      if (last.from_ns / resolution_ns == row.from_ns / resolution_ns) {
        last.from_ns = std::min(last.from_ns, row.from_ns);
        last.length_ns += row.length_ns;
        continue;
      }
      position.value() = kept;
    }
    rows[kept++] = row;
  }
  rows.resize(kept);
  return in_order;
}

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
  const size_t goal = max_rows_ / 2;  // else room would soon be made again
  GapsByBits gaps{};
  count_gaps(tasks_, gaps);
  count_gaps(halts_, gaps);
  uint64_t resolution_ns = promising_resolution(gaps, tasks_.size() + halts_.size(), goal, resolution_ns_);
  for (; resolution_ns <= kMostResolutionNs; resolution_ns *= 2) {
    join(tasks_, resolution_ns);
    join(halts_, resolution_ns);
    resolution_ns_ = resolution_ns;
    if (tasks_.size() + halts_.size() <= goal) return;
  }
  max_rows_ *= 2;  // so many different states: the off-CPU profile and the tasks bound them
}

void IntervalLog::join(std::vector<Row>& rows, uint64_t resolution_ns) {
  if (join_in_order(rows, resolution_ns)) return;
  std::ranges::sort(rows, {}, [](const Row& row) { return std::pair(group_of(row), row.from_ns); });
  join_in_order(rows, resolution_ns);
}

uint64_t IntervalLog::join_until(std::vector<Row>& rows, size_t most, uint64_t resolution_ns) {
  if (rows.size() <= most) return 0;
  GapsByBits gaps{};
  count_gaps(rows, gaps);
  uint64_t reached = promising_resolution(gaps, rows.size(), most, resolution_ns);
  join(rows, reached);
  for (; rows.size() > most && reached <= kMostResolutionNs / 2; join(rows, reached)) reached *= 2;
  return reached;
}

}  // namespace qperf::sched
