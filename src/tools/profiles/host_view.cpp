#include "tools/profiles/host_view.h"

#include <tsl/robin_map.h>

#include <optional>
#include <vector>

#include "profile/bin_collector.h"
#include "sched/replay.h"

namespace qperf::tools {
namespace {

constexpr uint32_t kUnknownThread = 0;

}  // namespace

Result<void> HostView::for_each_sample(const std::function<void(const HostSample&)>& use) const {
  const sched::Replay* replay = sched.has_replay() ? &sched.replayed() : nullptr;
  return profile.samples->run([&](const analysis::TimedSample& sample) {
    if (!window.contains(sample.wall_ns)) return;
    const auto task = replay == nullptr ? std::nullopt : replay->tasks().find(sample.task);
    use({.thread = task ? task->raw + 1 : kUnknownThread,
         .cpu = sample.vcpu,
         .at_ns = sample.wall_ns,
         .weight = sample.weight,
         .stack = sample.stack});
  });
}

std::string HostView::thread_name(uint32_t thread) const {
  if (thread == kUnknownThread) return "[unknown thread]";
  const sched::TaskTable& tasks = sched.replayed().tasks();
  return tasks.labels().text(tasks[sched::TaskIndex{thread - 1}].label);
}

Result<profile::BinnedWeights> binned_host(const HostView& host, WallNs end_ns) {
  profile::BinCollector sums(end_ns);
  tsl::robin_map<uint64_t, uint32_t, profile::MixedHash> numbers;  // by thread and stack
  std::vector<profile::BinCollector::Cell> cells;
  QPERF_RETURN_IF_ERROR(host.for_each_sample([&](const HostSample& sample) {
    const auto [position, added] =
        numbers.try_emplace(uint64_t{sample.thread} << 32 | sample.stack.raw, static_cast<uint32_t>(cells.size()));
    if (added) cells.push_back({.vcpu = VcpuIndex{0}, .group = sample.thread, .stack = sample.stack});
    sums.add(sample.at_ns, position->second, sample.weight);
  }));
  return sums.binned([&](uint32_t pair) { return cells[pair]; });
}

}  // namespace qperf::tools
