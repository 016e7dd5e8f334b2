#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "sched/interval.h"
#include "sched/latency.h"
#include "sched/window.h"

namespace qperf::sched {

/// Time in one state, with the part of it that is uncertain.
struct StateTime {
  uint64_t ns = 0;
  uint64_t uncertain_ns = 0;
};

/// Blocked time under one reason. Uncertain time is under none.
struct ReasonTime {
  uint64_t reason = 0;
  uint64_t ns = 0;
  uint64_t waits = 0;       // with some part inside the window
  uint64_t unfinished = 0;  // of them: not woken when the capture ended
};

/// One task, inside the window.
struct TaskStatistics {
  StateTime unknown;
  StateTime running;
  StateTime blocked;
  StateTime runnable;
  uint64_t lifetime_ns = 0;  // the sum of the four
  std::vector<ReasonTime> by_reason;
  uint64_t switches = 0;     // times it was switched in
  uint64_t preemptions = 0;  // switched out ready, without having asked for it
  uint64_t yields = 0;
  uint64_t migrations = 0;  // switched in on another vCPU than the time before
  LatencyHistogram wake_to_run;
  std::vector<std::pair<VcpuIndex, uint64_t>> running_by_vcpu;

  static constexpr size_t kMaxReasons = 64;  // others are counted under kOtherReasons
  static constexpr uint64_t kOtherReasons = UINT64_MAX;
};

struct VcpuStatistics {
  bool seen = false;
  uint64_t window_ns = 0;
  uint64_t running_ns = 0;  // of all tasks, idle ones too
  uint64_t unknown_ns = 0;  // not known which task
  uint64_t halted_ns = 0;   // between idle and resume; lies inside the idle task's time
};

/// How many tasks waited in a CPU's run queue, as the guest said at each enqueue into it.
struct DepthStatistics {
  uint64_t enqueues = 0;
  uint64_t sum = 0;
  uint64_t max = 0;
  WallNs max_at_ns = 0;
};

/// What tasks wait for: a reason, and which one where the reason's identities recur.
struct ResourceKey {
  uint64_t reason = 0;
  uint64_t resource = 0;  // 0: none
  friend bool operator==(const ResourceKey&, const ResourceKey&) = default;
};

struct BlockSite {
  StackId stack;
  uint64_t wait_ns = 0;
  uint64_t waits = 0;
};

struct ResourceStatistics {
  ResourceKey key;
  uint64_t wait_ns = 0;
  uint64_t waits = 0;
  uint64_t unfinished = 0;
  uint64_t waiters = 0;          // different tasks
  std::vector<BlockSite> sites;  // filled by Statistics::resources(): by wait, the top ones
};

/// How many are told apart; the others are counted.
struct StatisticsLimits {
  size_t resources = size_t{1} << 20;
  size_t pairs = size_t{1} << 22;  // of a resource with a task, and as many with a stack
};

/// Waits of resources that are told apart whose other half is not.
struct PairsLeftOut {
  uint64_t waiters = 0;
  uint64_t block_sites = 0;
};

/// Sums of intervals. Memory grows with tasks, resources, and pairs of a resource with a task or a stack, all within limits.
class Statistics {
 public:
  explicit Statistics(const Window& window, const StatisticsLimits& limits = {}) : window_(window), limits_(limits) {}

  void interval(const Interval& interval);
  void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns);
  void unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns);
  void enqueued(VcpuIndex vcpu, WallNs at_ns, const Enqueue& enqueue);
  void add_vcpu(VcpuIndex vcpu);
  void finish(WallNs end_ns);

  /// By TaskIndex; may be shorter than the task table.
  [[nodiscard]] const std::vector<TaskStatistics>& tasks() const noexcept { return tasks_; }
  /// By vCPU.
  [[nodiscard]] const std::vector<VcpuStatistics>& vcpus() const noexcept { return vcpus_; }
  /// By the guest's CPU number, for those below kMaxCpus.
  [[nodiscard]] const std::vector<DepthStatistics>& depths() const noexcept { return depths_; }
  /// Enqueues for other CPUs.
  [[nodiscard]] uint64_t enqueues_elsewhere() const noexcept { return enqueues_elsewhere_; }
  /// By wait, the longest first, each with its `top_sites` longest sites.
  [[nodiscard]] std::vector<ResourceStatistics> resources(size_t top_sites) const;
  /// Waits for resources that were not told apart; without waiters and sites.
  [[nodiscard]] const ResourceStatistics& other_resources() const noexcept { return other_resources_; }
  [[nodiscard]] const PairsLeftOut& pairs_left_out() const noexcept { return pairs_left_out_; }

  static constexpr size_t kMaxCpus = 4096;

 private:
  struct KeyHash {
    size_t operator()(const ResourceKey& key) const noexcept;
  };

  TaskStatistics& task(TaskIndex index);
  VcpuStatistics& vcpu(VcpuIndex index);
  void ran(const Interval& interval, TaskStatistics& of_task, uint64_t ns);
  void waited(const Interval& interval, TaskStatistics& of_task, uint64_t ns);

  const Window& window_;
  StatisticsLimits limits_;
  std::vector<TaskStatistics> tasks_;
  std::vector<std::optional<VcpuIndex>> last_vcpu_;  // by task, the window aside
  std::vector<VcpuStatistics> vcpus_;
  std::vector<DepthStatistics> depths_;
  uint64_t enqueues_elsewhere_ = 0;
  std::vector<ResourceStatistics> resources_;
  tsl::robin_map<ResourceKey, uint32_t, KeyHash> resource_index_;
  tsl::robin_map<uint64_t, bool, KeyedHash> waiters_;     // resource << 32 | task
  tsl::robin_map<uint64_t, BlockSite, KeyedHash> sites_;  // resource << 32 | stack
  ResourceStatistics other_resources_;
  PairsLeftOut pairs_left_out_;
};

}  // namespace qperf::sched
