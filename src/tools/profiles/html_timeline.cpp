#include "tools/profiles/html_timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>

#include "export/markup_text.h"
#include "profile/ids.h"
#include "sched/interval_log.h"
#include "sched/replay.h"

namespace qperf::tools {
namespace {

using Row = sched::IntervalLog::Row;

/// Numbers the states of lanes by their names.
class States {
 public:
  explicit States(exporter::HtmlReport& report) : report_(report) {}
  uint32_t number(std::string name, std::string_view kind) {
    const auto [position, added] = numbers_.try_emplace(name, static_cast<uint32_t>(report_.states.size()));
    if (added) report_.states.push_back({.name = std::move(name), .kind = std::string(kind)});
    return position->second;
  }

 private:
  exporter::HtmlReport& report_;
  std::map<std::string, uint32_t> numbers_;
};

struct LaneRows {
  std::vector<Row> vcpus;
  std::vector<Row> tasks;
};

/// The report's state of each entry of the off-CPU profile. Only what is drawn has one of its own, and of that only what lasts longest:
/// a guest may give every wait a reason that no other has.
std::vector<uint32_t> wait_states(const analysis::SchedView& sched, const HtmlTasks& tasks, size_t most, uint32_t none, States& states,
                                  exporter::HtmlReport& report) {
  const sched::OffCpuProfile& off_cpu = sched.replayed().off_cpu();
  std::vector<uint64_t> drawn_ns(off_cpu.entries());
  for (const Row& row : sched.intervals().tasks())
    if (row.state.is_waiting() && tasks.lane_of(sched::TaskIndex{row.owner}) != 0)
      drawn_ns[row.state.entry()] = profile::saturating_add(drawn_ns[row.state.entry()], row.length_ns);
  std::map<std::string, uint64_t> ns_by_name;
  for (uint32_t entry = 0; entry < drawn_ns.size(); ++entry) {
    if (drawn_ns[entry] == 0) continue;
    uint64_t& sum = ns_by_name[off_cpu.state_name(entry)];
    sum = profile::saturating_add(sum, drawn_ns[entry]);
  }
  if (ns_by_name.size() > most) {
    std::vector<std::pair<uint64_t, std::string>> longest;
    for (const auto& [name, ns] : ns_by_name) longest.emplace_back(~ns, name);
    std::ranges::sort(longest);
    for (size_t i = most; i < longest.size(); ++i) ns_by_name.erase(longest[i].second);
    report.left_out.push_back(fmt::format("what tasks waited for: of {} reasons and states the {} that took longest are told apart in the lanes",
                                          longest.size(), most));
  }
  std::vector<uint32_t> numbers(drawn_ns.size(), none);
  for (uint32_t entry = 0; entry < drawn_ns.size(); ++entry) {
    if (drawn_ns[entry] == 0) continue;
    std::string name = off_cpu.state_name(entry);
    const bool runnable = off_cpu.is_runnable(entry);
    if (!ns_by_name.contains(name)) name = runnable ? "runnable" : "blocked: other reasons";
    numbers[entry] = states.number(std::move(name), runnable ? "runnable" : "blocked");
  }
  return numbers;
}

sched::LoggedState as_state(uint32_t number) { return sched::LoggedState::waiting(number); }

/// The log's rows as those of lanes: the owner is a vCPU or a task's lane, the state one of the report's.
LaneRows lane_rows(const analysis::SchedView& sched, const HtmlTasks& tasks, uint32_t vcpus, const HtmlLimits& limits, States& states,
                   exporter::HtmlReport& report) {
  const sched::Replay& replay = sched.replayed();
  LaneRows rows;
  const uint32_t running = states.number("running", "running");
  const uint32_t unknown = states.number("unknown", "unknown");
  const uint32_t idle = states.number("idle", "idle");
  std::vector<uint32_t> on_vcpu;  // state of a vCPU that runs the task of a lane
  for (const auto& lane : tasks.lanes()) on_vcpu.push_back(states.number("runs " + lane.name, "running"));
  const uint32_t other = states.number("runs another task", "running");
  const std::vector<uint32_t> waits = wait_states(sched, tasks, limits.wait_states, unknown, states, report);
  for (const Row& row : sched.intervals().tasks()) {
    const sched::TaskIndex task{row.owner};
    const uint32_t lane = tasks.lane_of(task);
    if (row.state.is_running() && row.state.vcpu().raw < vcpus) {
      const uint32_t state = lane != 0 ? on_vcpu[lane - 1] : replay.is_idle(task) ? idle : other;
      rows.vcpus.push_back({row.from_ns, row.length_ns, row.state.vcpu().raw, as_state(state)});
    }
    if (lane == 0) continue;
    const uint32_t state = row.state.is_running() ? running : row.state.is_waiting() ? waits[row.state.entry()] : unknown;
    rows.tasks.push_back({row.from_ns, row.length_ns, lane, as_state(state)});
  }
  const uint32_t halted = states.number("idle: halted", "idle");
  for (const Row& row : sched.intervals().halts())
    if (row.owner < vcpus) rows.vcpus.push_back({row.from_ns, row.length_ns, row.owner, as_state(halted)});
  return rows;
}

void fill(std::vector<Row>& rows, size_t lanes_before, std::vector<exporter::HtmlLane>& lanes) {
  // Halts lie inside the idle task's time, which begins before them: drawn later.
  std::ranges::sort(rows, {}, [](const Row& row) { return std::make_tuple(row.owner, row.from_ns, row.state.raw, row.length_ns); });
  for (const Row& row : rows) {
    exporter::HtmlLane& lane = lanes[lanes_before + row.owner];
    lane.from_ns.add(row.from_ns);
    lane.until_ns.add(row.from_ns + row.length_ns);
    lane.states.add(row.state.entry());
  }
}

void note_joined(uint64_t resolution_ns, std::string_view what, exporter::HtmlReport& report) {
  if (resolution_ns == 0) return;
  report.left_out.push_back(fmt::format("{} that begin within {:.1f} us of each other and are alike are drawn as one", what,
                                        static_cast<double>(resolution_ns) / 1e3));
}

void add_phases(const analysis::SchedView& sched, const HtmlLimits& limits, exporter::HtmlReport& report) {
  size_t further = 0;
  for (const sched::Phase& phase : sched.survey().phases().all()) {
    const uint64_t from = std::max(phase.span.from_ns, report.time.start);
    const uint64_t until = std::min(phase.span.to_ns, report.time.end);
    if (until <= from) continue;
    if (report.phases.size() == limits.phases) {
      ++further;
      continue;
    }
    report.phases.push_back({.name = phase.name, .from_ns = from, .until_ns = until, .complete = phase.complete});
  }
  if (further != 0) report.left_out.push_back(fmt::format("{} phases beyond the first {}", further, limits.phases));
}

}  // namespace

void add_sched_lanes(const analysis::SchedView& sched, const HtmlTasks& tasks, uint32_t vcpus, const HtmlLimits& limits,
                     exporter::HtmlReport& report) {
  States states(report);
  LaneRows rows = lane_rows(sched, tasks, vcpus, limits, states, report);
  const uint64_t start_at = (report.time.end - report.time.start) / (uint64_t{1} << 14);
  const uint64_t joined = std::max(sched::IntervalLog::join_until(rows.vcpus, limits.lane_rows / 4, start_at),
                                   sched::IntervalLog::join_until(rows.tasks, limits.lane_rows, start_at));
  note_joined(std::max(joined, sched.intervals().resolution_ns()), "stretches of the lanes", report);
  for (uint32_t vcpu = 0; vcpu < vcpus; ++vcpu) {
    exporter::HtmlLane& lane = report.lanes.emplace_back();
    lane.id = vcpu;
    lane.name = fmt::format("vCPU {}", vcpu);
    lane.has_states = true;
  }
  fill(rows.vcpus, report.lanes.size() - vcpus, report.lanes);
  const size_t before = report.lanes.size();
  for (const auto& task : tasks.lanes()) {
    exporter::HtmlLane& lane = report.lanes.emplace_back();
    lane.kind = exporter::HtmlLane::Kind::kTask;
    lane.id = report.lanes.size() - before;
    lane.name = exporter::clipped(task.name, limits.name_bytes);
    lane.has_states = true;
  }
  fill(rows.tasks, before - 1, report.lanes);  // lane numbers of tasks begin at 1
  if (tasks.left_out() != 0)
    report.left_out.push_back(fmt::format("lanes of {} tasks that ran less than the {} shown; their samples and waits are counted",
                                          tasks.left_out(), tasks.lanes().size()));
  add_phases(sched, limits, report);
}

void add_sample_lanes(const std::vector<VcpuIndex>& vcpus, exporter::HtmlReport& report) {
  for (const VcpuIndex vcpu : vcpus) {
    exporter::HtmlLane& lane = report.lanes.emplace_back();
    lane.id = vcpu.raw;
    lane.name = fmt::format("vCPU {}", vcpu.raw);
  }
}

void add_off_cpu(const analysis::SchedView& sched, const HtmlTasks& tasks, const HtmlLimits& limits, HtmlFrames& frames,
                 exporter::HtmlReport& report) {
  const sched::Replay& replay = sched.replayed();
  std::vector<Row> waits;
  for (const Row& row : sched.intervals().tasks())
    if (row.state.is_waiting() && !replay.is_idle(sched::TaskIndex{row.owner}) && sched.wants(replay.tasks().labels().text(replay.off_cpu().label(row.state.entry()))))
      waits.push_back(row);
  if (waits.empty()) return;
  const uint64_t start_at = (report.time.end - report.time.start) / (uint64_t{1} << 14);
  const uint64_t joined = sched::IntervalLog::join_until(waits, limits.wait_rows, start_at);
  note_joined(std::max(joined, sched.intervals().resolution_ns()), "waits", report);

  profile::CallTree tree;
  std::vector<uint64_t> self(1);
  std::vector<profile::NodeId> node_of_entry(replay.off_cpu().entries());
  std::vector<profile::FrameId> stack;
  for (const Row& row : waits) {
    profile::NodeId& node = node_of_entry[row.state.entry()];
    if (node.raw == 0) {
      stack.clear();
      for (const std::string& frame : sched.off_cpu_frames(row.state.entry())) stack.push_back(frames.synthetic(frame));
      node = tree.node_of(stack);
      self.resize(tree.size());
    }
    self[node.raw] += row.length_ns;
  }
  const auto pruned = profile::prune(tree, tree.totals(self), limits.nodes / 4, frames.synthetic("[rare waits]"));
  if (pruned.cut != 0) report.left_out.push_back(fmt::format("{} places of the off-CPU tree that weigh least, added up as [rare waits]", pruned.cut));
  std::ranges::sort(waits, {}, [](const Row& row) { return std::make_tuple(row.from_ns, row.owner, row.state.raw); });
  exporter::HtmlOffCpu off;
  off.tree = frames.encode(pruned.tree);
  for (const Row& row : waits) {
    off.from_ns.add(row.from_ns);
    off.until_ns.add(row.from_ns + row.length_ns);
    off.nodes.add(pruned.now[node_of_entry[row.state.entry()].raw].raw);
    off.tasks.add(tasks.lane_of(sched::TaskIndex{row.owner}));
  }
  report.off_cpu = std::move(off);
}

}  // namespace qperf::tools
