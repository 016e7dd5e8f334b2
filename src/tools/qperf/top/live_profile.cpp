#include "tools/qperf/top/live_profile.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/capture_input.h"
#include "base/printable.h"
#include "guest/trace_events.h"
#include "sched/task_table.h"
#include "tools/qperf/top/live_names.h"
#include "tools/qperf/top/sample_window.h"
#include "tools/qperf/top/tick_history.h"

namespace qperf::tools {
namespace {

uint64_t since(uint64_t now, uint64_t before) { return now > before ? now - before : 0; }

}  // namespace

struct LiveProfile::State {
  State(const std::string& path, std::vector<analysis::ElfArgument> elfs, uint64_t window)
      : names(path, std::move(elfs)), window_ns(window), ticks(window) {}

  void keep(const capture::SampleChunk& chunk) {
    if (chunk.samples.empty()) return;
    end_ns = std::max(end_ns, chunk.samples.back().wall_ns);
    samples.keep(chunk);
  }

  void learn(const capture::EventChunk& chunk) {
    for (const capture::Event& event : chunk.events) {
      if (event.type != capture::EventType::kMarker) continue;
      has_tasks = true;
      if (event.kind != guest::trace_kind::kMetadata) continue;
      if (const auto task = tasks.find_or_add(TaskId{event.args[0]}))
        tasks.set_metadata(*task, {event.args[1], event.args[2], event.args[3], event.args[4]});
    }
  }

  void note(const capture::Ledger& ledger) {
    ticks.note(ledger);
    end_ns = std::max(end_ns, ledger.wall_ns);
  }

  void forget_what_is_old() {
    const WallNs from = since(end_ns, window_ns);
    samples.forget_before(from);
    ticks.forget_before(from);
  }

  Result<void> sum_samples(Snapshot& out);
  void sum_loads(Snapshot& out) const;

  LiveNames names;
  uint64_t window_ns;
  std::optional<capture::Follower> follower;
  SampleWindow samples;
  TickHistory ticks;
  sched::TaskTable tasks;
  bool has_tasks = false;
  WallNs end_ns = 0;
};

Result<void> LiveProfile::State::sum_samples(Snapshot& out) {
  const WallNs from = since(end_ns, window_ns);
  std::map<uint64_t, uint64_t> by_task;
  std::map<uint32_t, uint64_t> by_vcpu;
  std::vector<uint64_t> by_stack;
  names.clear_stacks();
  for (const capture::SampleChunk& chunk : samples.chunks()) {
    constexpr size_t kNotYet = ~size_t{0};
    std::vector<size_t> stack_of_site(chunk.sites.size(), kNotYet);
    for (const capture::Sample& sample : chunk.samples) {
      if (sample.wall_ns < from) continue;
      size_t& stack = stack_of_site[sample.site];
      if (stack == kNotYet) stack = names.add(chunk.sites[sample.site], sample.wall_ns);
      if (by_stack.size() <= stack) by_stack.resize(stack + 1);
      by_stack[stack] += sample.weight;
      by_task[sample.task.raw] += sample.weight;
      by_vcpu[chunk.vcpu.raw] += sample.weight;
      out.samples += 1;
      out.weight += sample.weight;
    }
  }
  QPERF_RETURN_IF_ERROR(names.name_pending());

  std::vector<HotFunction> functions(names.frame_count());
  std::vector<size_t> counted_in(functions.size());  // by the stack's number + 1
  LiveNames::Stack frames;
  for (size_t stack = 0; stack < by_stack.size(); ++stack) {
    names.frames(stack, frames);
    for (const profile::FrameId frame : frames) {
      if (counted_in[frame.raw] == stack + 1) continue;
      counted_in[frame.raw] = stack + 1;
      functions[frame.raw].inclusive += by_stack[stack];
    }
    if (!frames.empty()) functions[frames.front().raw].self += by_stack[stack];
  }
  for (uint32_t i = 0; i < functions.size(); ++i) functions[i].name = names.frame(profile::FrameId{i}).name;
  std::erase_if(functions, [](const HotFunction& function) { return function.inclusive == 0; });
  std::ranges::sort(functions, [](const HotFunction& a, const HotFunction& b) {
    if (a.self != b.self) return a.self > b.self;
    return a.inclusive != b.inclusive ? a.inclusive > b.inclusive : a.name < b.name;
  });
  out.functions = std::move(functions);

  for (const auto& [vcpu, weight] : by_vcpu) out.vcpus.push_back({.vcpu = vcpu, .ticks = {}, .weight = weight});
  for (const auto& [task, weight] : by_task) {
    if (!has_tasks) break;
    const std::string label =
        TaskId{task} == capture::kUnknownTask ? "[unknown task]" : tasks.labels().text(tasks.label_of(TaskId{task}));
    out.tasks.push_back({label, weight});
  }
  std::ranges::stable_sort(out.tasks, [](const HotTask& a, const HotTask& b) { return a.weight > b.weight; });
  return {};
}

void LiveProfile::State::sum_loads(Snapshot& out) const {
  for (const capture::VcpuLedger& vcpu : ticks.newest().vcpus) {
    out.dropped += vcpu.dropped_queue_full + vcpu.dropped_writer;
    auto row = std::ranges::find(out.vcpus, vcpu.vcpu.raw, &VcpuLoad::vcpu);
    if (row == out.vcpus.end()) row = out.vcpus.insert(out.vcpus.end(), {.vcpu = vcpu.vcpu.raw, .ticks = {}, .weight = 0});
    row->ticks = ticks.ticks_of(vcpu);
  }
  std::ranges::sort(out.vcpus, {}, &VcpuLoad::vcpu);
}

LiveProfile::LiveProfile(std::unique_ptr<State> state) noexcept : state_(std::move(state)) {}
LiveProfile::LiveProfile(LiveProfile&&) noexcept = default;
LiveProfile& LiveProfile::operator=(LiveProfile&&) noexcept = default;
LiveProfile::~LiveProfile() = default;

Result<LiveProfile> LiveProfile::open(const std::string& path, std::vector<analysis::ElfArgument> elfs, uint64_t window_ns) {
  auto state = std::make_unique<State>(path, std::move(elfs), window_ns);
  State* raw = state.get();  // the handlers live in the follower, which lives in the state
  capture::Handlers handlers;
  handlers.samples = [raw](const capture::SampleChunk& chunk) {
    raw->keep(chunk);
    return Result<void>();
  };
  handlers.events = [raw](const capture::EventChunk& chunk) {
    raw->learn(chunk);
    return Result<void>();
  };
  handlers.ledger = [raw](const capture::Ledger& ledger) {
    raw->note(ledger);
    raw->forget_what_is_old();
    return Result<void>();
  };
  QPERF_ASSIGN_OR_RETURN(capture::Follower follower, capture::Follower::open(path, std::move(handlers)));
  state->follower.emplace(std::move(follower));
  return LiveProfile(std::move(state));
}

Result<Snapshot> LiveProfile::refresh() {
  QPERF_ASSIGN_OR_RETURN(const capture::Summary* summary, state_->follower->read_more());
  if (summary->header.mode == guest::Mode::kExact)
    return Error{ErrorCode::kUsage, "mode=exact keeps sums and no samples: there are no last seconds to show"};
  QPERF_RETURN_IF_ERROR(state_->names.prepare());
  state_->forget_what_is_old();
  Snapshot out;
  analysis::CaptureInput input;
  input.summary.header = summary->header;
  out.guest = fmt::format("{}, {}", guest::info(summary->header.target).name, analysis::describe_mode(input));
  out.end_ns = state_->end_ns;
  out.finished = summary->trailer.has_value();
  out.damaged_chunks = summary->integrity.damaged_chunks + summary->integrity.missing_chunks;
  if (const auto dropped = state_->samples.dropped_until(); dropped && *dropped >= since(state_->end_ns, state_->window_ns))
    out.whole_since_ns = *dropped;
  QPERF_RETURN_IF_ERROR(state_->sum_samples(out));
  state_->sum_loads(out);
  return out;
}

}  // namespace qperf::tools
