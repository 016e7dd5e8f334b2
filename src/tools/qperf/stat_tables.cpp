#include "tools/qperf/stat_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "guest/trace_events.h"
#include "sched/off_cpu.h"

namespace qperf::tools {
namespace {

std::string reason_text(uint64_t reason) {
  return reason == sched::TaskStatistics::kOtherReasons ? "[more]" : guest::wait_reason_name(reason);
}

Cell mean_ms(uint64_t sum_ns, uint64_t count) { return count == 0 ? Cell{"-", "null"} : cell_ms(sum_ns / count); }

struct TaskRow {
  const std::string* label;
  const sched::TaskStatistics* statistics;
  bool idle;
};

/// Tasks that were there and are asked for.
std::vector<TaskRow> tasks_of(const analysis::SchedView& sched) {
  const sched::Replay& replay = sched.replayed();
  std::vector<TaskRow> rows;
  const auto& tasks = replay.statistics().tasks();
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const sched::TaskIndex task{i};
    const std::string& label = replay.tasks().labels().text(replay.tasks()[task].label);
    if ((tasks[i].lifetime_ns == 0 && tasks[i].switches == 0) || !sched.wants(label)) continue;
    rows.push_back({&label, &tasks[i], replay.is_idle(task)});
  }
  std::ranges::stable_sort(rows, [](const TaskRow& a, const TaskRow& b) {
    return std::tuple(a.idle, ~a.statistics->running.ns, std::string_view(*a.label)) <
           std::tuple(b.idle, ~b.statistics->running.ns, std::string_view(*b.label));
  });
  return rows;
}

}  // namespace

Table latency_table(const analysis::SchedView& sched) {
  Table table({{"Task", "task", true},
               {"Running ms", "running_ns"},
               {"Blocked ms", "blocked_ns"},
               {"Runnable ms", "runnable_ns"},
               {"Switches", "switches"},
               {"Preempted", "preemptions"},
               {"Migrated", "migrations"},
               {"Wakes", "wakes"},
               {"Mean delay ms", "mean_delay_ns"},
               {"p95", "p95_delay_ns"},
               {"p99", "p99_delay_ns"},
               {"Max", "max_delay_ns"},
               {"Max at s", "max_delay_at_ns"}});
  uint64_t running = 0;
  for (const TaskRow& row : tasks_of(sched)) {
    const sched::TaskStatistics& task = *row.statistics;
    const sched::LatencyHistogram& delay = task.wake_to_run;
    const auto told = [&](uint64_t ns) { return delay.count() == 0 ? Cell{"-", "null"} : cell_ms(ns); };
    table.add({cell_text(*row.label), cell_ms(task.running.ns), cell_ms(task.blocked.ns), row.idle ? cell_ms(0) : cell_ms(task.runnable.ns),
               cell(task.switches), cell(row.idle ? 0 : task.preemptions), cell(task.migrations), cell(delay.count()),
               mean_ms(delay.sum_ns(), delay.count()), told(delay.quantile_ns(950)), told(delay.quantile_ns(990)), told(delay.max_ns()),
               delay.count() == 0 ? Cell{"-", "null"} : cell_time(delay.max_at_ns(), 0)});
    running += task.running.ns;
  }
  std::vector<Cell> sum{{"[all]", "null"}, cell_ms(running)};
  sum.resize(13, Cell{"", "null"});
  table.add_note(std::move(sum));
  return table;
}

Table vcpu_table(const analysis::SchedView& sched) {
  const sched::Replay& replay = sched.replayed();
  const auto& vcpus = replay.statistics().vcpus();
  Table table({{"vCPU", "vcpu"},
               {"Window ms", "window_ns"},
               {"Busy %", "busy_percent"},
               {"Busy ms", "busy_ns"},
               {"Idle task ms", "idle_task_ns"},
               {"Unknown task ms", "unknown_task_ns"},
               {"Halted ms", "halted_ns"}});
  for (uint32_t i = 0; i < vcpus.size(); ++i) {
    if (!vcpus[i].seen) continue;
    const uint64_t busy = replay.busy_ns(VcpuIndex{i});
    table.add({cell(i), cell_ms(vcpus[i].window_ns), cell_percent(static_cast<double>(busy), static_cast<double>(vcpus[i].window_ns)),
               cell_ms(busy), cell_ms(vcpus[i].running_ns - busy), cell_ms(vcpus[i].unknown_ns), cell_ms(vcpus[i].halted_ns)});
  }
  return table;
}

Table queue_table(const analysis::SchedView& sched) {
  const auto& depths = sched.replayed().statistics().depths();
  Table table({{"Run queue of CPU", "cpu"}, {"Enqueues", "enqueues"}, {"Mean length", "mean_length"}, {"Longest", "longest"}, {"At s", "longest_at_ns"}});
  for (size_t i = 0; i < depths.size(); ++i) {
    const sched::DepthStatistics& depth = depths[i];
    if (depth.enqueues == 0) continue;
    table.add({cell(i), cell(depth.enqueues), cell_decimal(static_cast<double>(depth.sum) / static_cast<double>(depth.enqueues)),
               cell(depth.max), cell_time(depth.max_at_ns, 0)});
  }
  if (const uint64_t elsewhere = sched.replayed().statistics().enqueues_elsewhere(); elsewhere != 0)
    table.add({{fmt::format("[from {} on]", sched::Statistics::kMaxCpus), "null"}, {std::to_string(elsewhere), "null"}, {"", "null"}, {"", "null"}, {"", "null"}});
  return table;
}

Table reason_table(const analysis::SchedView& sched) {
  std::map<uint64_t, sched::ReasonTime> reasons;
  uint64_t uncertain = 0;
  uint64_t all = 0;
  for (const TaskRow& row : tasks_of(sched)) {
    all += row.statistics->blocked.ns;
    uncertain += row.statistics->blocked.uncertain_ns;
    for (const sched::ReasonTime& time : row.statistics->by_reason) {
      sched::ReasonTime& sum = reasons[time.reason];
      sum.reason = time.reason;
      sum.ns += time.ns;
      sum.waits += time.waits;
      sum.unfinished += time.unfinished;
    }
  }
  std::vector<sched::ReasonTime> sorted;
  for (const auto& [reason, time] : reasons) sorted.push_back(time);
  std::ranges::stable_sort(sorted, {}, [](const sched::ReasonTime& time) { return ~time.ns; });
  Table table({{"Blocked for", "reason", true}, {"%", "percent"}, {"Time ms", "wait_ns"}, {"Waits", "waits"}, {"Mean ms", "mean_ns"}, {"Unfinished", "unfinished"}});
  for (const sched::ReasonTime& time : sorted)
    table.add({cell_text(reason_text(time.reason)), cell_percent(static_cast<double>(time.ns), static_cast<double>(all)), cell_ms(time.ns),
               cell(time.waits), mean_ms(time.ns, time.waits), cell(time.unfinished)});
  const auto note = [&](std::string_view text, uint64_t ns) {
    table.add_note({{std::string(text), "null"}, cell_percent(static_cast<double>(ns), static_cast<double>(all)), cell_ms(ns), {"", "null"},
                    {"", "null"}, {"", "null"}});
  };
  if (uncertain != 0) note("[uncertain]", uncertain);
  note("[all]", all);
  return table;
}

Table resource_table(const analysis::SchedView& sched, size_t rows) {
  Table table({{"Blocked for", "reason", true},
               {"Resource", "resource", true},
               {"Time ms", "wait_ns"},
               {"Waits", "waits"},
               {"Mean ms", "mean_ns"},
               {"Tasks", "waiters"},
               {"Most of it from", "top_site", true}});
  for (const sched::ResourceStatistics& resource : sched.replayed().statistics().resources(1)) {
    if (rows-- == 0) break;
    const auto name = sched::resource_name(resource.key.reason, resource.key.resource);
    std::string site;
    if (!resource.sites.empty()) {
      const auto frames = sched.frames_of(resource.sites.front().stack);
      for (size_t i = 0; i < frames.size() && i < 3; ++i) site += (i == 0 ? "" : " < ") + frames[i];
    }
    table.add({cell_text(reason_text(resource.key.reason)), name ? cell_text(*name) : Cell{"-", "null"}, cell_ms(resource.wait_ns),
               cell(resource.waits), mean_ms(resource.wait_ns, resource.waits), cell(resource.waiters),
               site.empty() ? Cell{"-", "null"} : cell_text(site)});
  }
  if (const auto& others = sched.replayed().statistics().other_resources(); others.waits != 0)
    table.add_note({{"[not told apart]", "null"}, {"", "null"}, cell_ms(others.wait_ns), cell(others.waits), mean_ms(others.wait_ns, others.waits),
                    {"", "null"}, {"", "null"}});
  return table;
}

}  // namespace qperf::tools
