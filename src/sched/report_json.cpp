#include "sched/report_json.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>
#include <string_view>

#include "base/json_quoted.h"
#include "guest/trace_events.h"

namespace qperf::sched {
namespace {

constexpr size_t kTopSites = 5;

/// Writes JSON as it goes: commas and escapes are seen to here, nesting is the caller's.
class Json {
 public:
  void open(char bracket) {
    separate();
    text_ += bracket;
    first_ = true;
  }
  void close(char bracket) {
    text_ += bracket;
    first_ = false;
  }
  Json& key(std::string_view name) {
    separate();
    text_ += fmt::format("\"{}\":", name);
    first_ = true;
    return *this;
  }
  void string(std::string_view text) {
    separate();
    text_ += json_quoted(text);
  }
  void number(uint64_t value) {
    separate();
    text_ += std::to_string(value);
  }
  void word(std::string_view literal) {
    separate();
    text_ += literal;
  }
  void field(std::string_view name, uint64_t value) { key(name).number(value); }
  void line() { line_ = true; }
  [[nodiscard]] std::string take() && { return std::move(text_) + "\n"; }

 private:
  void separate() {
    if (!first_) text_ += ',';
    if (line_) text_ += '\n';
    first_ = line_ = false;
  }

  std::string text_;
  bool first_ = true;
  bool line_ = false;
};

void write_counts(Json& json, std::string_view name, const capture::EventCounts& counts) {
  json.key(name).open('{');
  for (size_t i = 0; i < counts.size(); ++i)
    json.field(capture::event_class_name(static_cast<capture::EventClass>(i)), counts[i]);
  json.close('}');
}

void write_capture(Json& json, const Survey& survey, const Window& window, const Replay& replay) {
  json.line();
  json.key("window").open('{');
  json.field("capture_end_ns", survey.end_ns());
  json.key("vcpus").open('[');
  for (uint32_t vcpu = 0; vcpu < survey.vcpus(); ++vcpu) {
    json.open('[');
    for (const TimeSpan& span : window.of(VcpuIndex{vcpu}).spans()) {
      json.open('[');
      json.number(std::min(span.from_ns, survey.end_ns()));
      json.number(std::min(span.to_ns, survey.end_ns()));
      json.close(']');
    }
    json.close(']');
  }
  json.close(']');
  json.close('}');
  json.line();
  write_counts(json, "events", survey.counts());
  json.line();
  write_counts(json, "event_drops", survey.drops());
  json.field("missing_events", survey.missing_events());
  json.line();
  json.key("odd_transitions").open('{');
  OddCounts odd = replay.oddities();
  odd[static_cast<size_t>(Oddity::kUnknownPhaseMark)] = survey.phases().unknown_marks();  // the replay knows of no phases
  for (size_t i = 0; i < kOddityCount; ++i) {
    if (odd[i] != 0) json.field(oddity_name(static_cast<Oddity>(i)), odd[i]);
  }
  json.close('}');
  json.line();
  const Statistics& statistics = replay.statistics();
  json.key("left_out").open('{');
  json.field("phase_marks", survey.phase_marks_left_out());
  json.field("phase_ends", survey.phases().ends_without_begin());
  json.field("names", replay.tasks().names_left_out());
  json.field("enqueues", statistics.enqueues_elsewhere());
  json.field("waiters", statistics.pairs_left_out().waiters);
  json.field("block_sites", statistics.pairs_left_out().block_sites);
  json.close('}');
  json.line();
  json.key("phases").open('[');
  for (const Phase& phase : survey.phases().all()) {
    json.line();
    json.open('{');
    json.key("name").string(phase.name);
    json.field("occurrence", phase.occurrence);
    json.field("from_ns", phase.span.from_ns);
    json.field("to_ns", phase.span.to_ns);
    json.key("complete").word(phase.complete ? "true" : "false");
    json.close('}');
  }
  json.close(']');
}

void write_latency(Json& json, const LatencyHistogram& latency) {
  json.key("wake_to_run").open('{');
  json.field("count", latency.count());
  if (latency.count() != 0) {
    json.field("mean_ns", latency.sum_ns() / latency.count());
    json.field("p50_ns", latency.quantile_ns(500));
    json.field("p95_ns", latency.quantile_ns(950));
    json.field("p99_ns", latency.quantile_ns(990));
    json.field("max_ns", latency.max_ns());
    json.field("max_at_ns", latency.max_at_ns());
  }
  json.close('}');
}

void write_task(Json& json, const TaskTable::Entry& entry, std::string_view label, const TaskStatistics& task, bool idle) {
  json.line();
  json.open('{');
  json.field("id", entry.id.raw);
  json.key("label").string(label);
  if (entry.metadata) {
    json.field("pid", entry.metadata->pid);
    json.field("tid", entry.metadata->tid);
  }
  json.key("idle").word(idle ? "true" : "false");
  json.field("lifetime_ns", task.lifetime_ns);
  json.field("running_ns", task.running.ns);
  json.field("blocked_ns", task.blocked.ns);
  json.field("runnable_ns", idle ? 0 : task.runnable.ns);
  json.field("parked_ns", idle ? task.runnable.ns : 0);
  json.field("unknown_ns", task.unknown.ns);
  json.field("uncertain_running_ns", task.running.uncertain_ns);
  json.field("uncertain_blocked_ns", task.blocked.uncertain_ns);
  json.field("uncertain_runnable_ns", task.runnable.uncertain_ns);
  json.key("blocked_by_reason").open('[');
  for (const ReasonTime& time : task.by_reason) {
    json.open('{');
    json.key("reason").string(time.reason == TaskStatistics::kOtherReasons ? "[more]" : guest::wait_reason_name(time.reason));
    json.field("ns", time.ns);
    json.field("waits", time.waits);
    json.field("unfinished", time.unfinished);
    json.close('}');
  }
  json.close(']');
  json.field("switches", task.switches);
  json.field("preemptions", idle ? 0 : task.preemptions);
  json.field("yields", task.yields);
  json.field("migrations", task.migrations);
  write_latency(json, task.wake_to_run);
  json.close('}');
}

void write_vcpus(Json& json, const Replay& replay) {
  const Statistics& statistics = replay.statistics();
  json.line();
  json.key("vcpus").open('[');
  for (uint32_t i = 0; i < statistics.vcpus().size(); ++i) {
    const VcpuStatistics& cpu = statistics.vcpus()[i];
    if (!cpu.seen) continue;
    const uint64_t busy_ns = replay.busy_ns(VcpuIndex{i});
    json.line();
    json.open('{');
    json.field("vcpu", i);
    json.field("window_ns", cpu.window_ns);
    json.field("busy_ns", busy_ns);
    json.field("idle_task_ns", cpu.running_ns - busy_ns);
    json.field("unknown_task_ns", cpu.unknown_ns);
    json.field("halted_ns", cpu.halted_ns);
    json.close('}');
  }
  json.close(']');
  json.line();
  json.key("run_queues").open('[');
  for (size_t i = 0; i < statistics.depths().size(); ++i) {
    const DepthStatistics& depth = statistics.depths()[i];
    if (depth.enqueues == 0) continue;
    json.line();
    json.open('{');
    json.field("cpu", i);
    json.field("enqueues", depth.enqueues);
    json.field("mean_depth_milli", depth.sum / depth.enqueues * 1000 + depth.sum % depth.enqueues * 1000 / depth.enqueues);
    json.field("max_depth", depth.max);
    json.field("max_at_ns", depth.max_at_ns);
    json.close('}');
  }
  json.close(']');
}

void write_resources(Json& json, const Replay& replay, FrameNames& names) {
  json.line();
  json.key("resources").open('[');
  for (const ResourceStatistics& resource : replay.statistics().resources(kTopSites)) {
    json.line();
    json.open('{');
    json.key("reason").string(guest::wait_reason_name(resource.key.reason));
    const auto name = resource_name(resource.key.reason, resource.key.resource);
    json.key("resource");
    if (name) json.string(*name);
    else json.word("null");
    json.field("wait_ns", resource.wait_ns);
    json.field("waits", resource.waits);
    json.field("unfinished", resource.unfinished);
    json.field("waiters", resource.waiters);
    json.key("block_sites").open('[');
    for (const BlockSite& site : resource.sites) {
      json.open('{');
      json.key("stack").open('[');
      for (const GuestVa address : replay.stacks().frames(site.stack)) {
        for (const std::string& frame : names.frames(address)) json.string(frame);
      }
      json.close(']');
      json.field("wait_ns", site.wait_ns);
      json.field("waits", site.waits);
      json.close('}');
    }
    json.close(']');
    json.close('}');
  }
  json.close(']');
  const ResourceStatistics& others = replay.statistics().other_resources();
  json.line();
  json.key("other_resources").open('{');
  json.field("wait_ns", others.wait_ns);
  json.field("waits", others.waits);
  json.field("unfinished", others.unfinished);
  json.close('}');
}

}  // namespace

std::string report_json(const Survey& survey, const Window& window, const Replay& replay, const Pattern* task_filter,
                        FrameNames& names) {
  Json json;
  json.open('{');
  json.key("format").string("qperf-sched");
  json.field("version", kReportVersion);
  write_capture(json, survey, window, replay);
  json.line();
  json.key("tasks").open('[');
  const auto& tasks = replay.statistics().tasks();
  for (uint32_t i = 0; i < tasks.size(); ++i) {
    const TaskTable::Entry& entry = replay.tasks()[TaskIndex{i}];
    const std::string& label = replay.tasks().labels().text(entry.label);
    if (tasks[i].lifetime_ns == 0 && tasks[i].switches == 0) continue;
    if (task_filter != nullptr && !task_filter->found_in(label)) continue;
    write_task(json, entry, label, tasks[i], replay.is_idle(TaskIndex{i}));
  }
  json.close(']');
  write_vcpus(json, replay);
  write_resources(json, replay, names);
  json.close('}');
  return std::move(json).take();
}

}  // namespace qperf::sched
