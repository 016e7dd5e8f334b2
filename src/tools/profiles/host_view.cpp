#include "tools/profiles/host_view.h"

#include <fmt/core.h>
#include <tsl/robin_map.h>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <optional>
#include <vector>

#include "base/keyed_hash.h"
#include "profile/bin_collector.h"
#include "sched/replay.h"

namespace qperf::tools {
namespace {

constexpr uint32_t kUnknownThread = 0;

}  // namespace

Result<void> HostView::for_all(const std::function<void(const HostSample&)>& use) const {
  if (profile.samples == nullptr) return Error{ErrorCode::kBadFormat, fmt::format("{}: its samples have no clock", profile.input.path)};
  const sched::Replay* replay = sched.has_replay() ? &sched.replayed() : nullptr;
  return profile.samples->run([&](const analysis::TimedSample& sample) {
    const auto task = replay == nullptr ? std::nullopt : replay->tasks().find(sample.task);
    use({.thread = task ? task->raw + 1 : kUnknownThread,
         .cpu = sample.vcpu,
         .at_ns = sample.wall_ns,
         .weight = sample.weight,
         .stack = sample.stack});
  });
}

Result<void> HostView::for_each_sample(const std::function<void(const HostSample&)>& use) const {
  return for_all([&](const HostSample& sample) {
    if (window.contains(sample.at_ns)) use(sample);
  });
}

/// A thread that sleeps has few and long gaps, one that runs many, of the sampler's period: the median is told by powers of 2.
Result<void> HostView::survey() {
  std::array<uint64_t, std::numeric_limits<uint64_t>::digits + 1> gaps{};
  uint64_t counted = 0;
  tsl::robin_map<uint64_t, WallNs, KeyedHash> last_ns;  // by thread and CPU
  QPERF_RETURN_IF_ERROR(for_all([&](const HostSample& sample) {
    ++(window.contains(sample.at_ns) ? inside : outside);
    const auto [position, added] = last_ns.try_emplace(uint64_t{sample.thread} << 32 | sample.cpu.raw, sample.at_ns);
    if (!added && sample.at_ns > position->second) {
      ++gaps[static_cast<size_t>(std::bit_width(sample.at_ns - position->second))];
      ++counted;
    }
    position.value() = sample.at_ns;
  }));
  uint64_t below = 0;
  for (size_t bits = 0; bits < gaps.size() && counted > 0; ++bits) {
    below += gaps[bits];
    if (below * 2 < counted) continue;
    usual_gap_ns = uint64_t{1} << std::min<size_t>(bits, std::numeric_limits<uint64_t>::digits - 1);
    break;
  }
  return {};
}

std::string HostView::thread_name(uint32_t thread) const {
  if (thread == kUnknownThread) return "[unknown thread]";
  const sched::TaskTable& tasks = sched.replayed().tasks();
  return tasks.labels().text(tasks[sched::TaskIndex{thread - 1}].label);
}

Result<profile::BinnedWeights> binned_host(const HostView& host, WallNs end_ns) {
  profile::BinCollector sums(end_ns);
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> numbers;  // by thread and stack
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
