#include "sched/statistics.h"

#include <algorithm>
#include <tuple>

#include "base/keyed_hash.h"
#include "sched/off_cpu.h"

namespace qperf::sched {
namespace {

ReasonTime& reason_time(std::vector<ReasonTime>& reasons, uint64_t reason) {
  const auto found = std::ranges::find(reasons, reason, &ReasonTime::reason);
  if (found != reasons.end()) return *found;
  if (reasons.size() >= TaskStatistics::kMaxReasons && reason != TaskStatistics::kOtherReasons)
    return reason_time(reasons, TaskStatistics::kOtherReasons);
  reasons.push_back({.reason = reason});
  return reasons.back();
}

uint64_t pair_key(uint32_t resource, uint32_t other) noexcept { return (uint64_t{resource} << 32) | other; }

}  // namespace

size_t Statistics::KeyHash::operator()(const ResourceKey& key) const noexcept {
  return keyed_hash(key.reason, key.resource);
}

TaskStatistics& Statistics::task(TaskIndex index) {
  if (tasks_.size() <= index.raw) {
    tasks_.resize(index.raw + size_t{1});
    last_vcpu_.resize(tasks_.size());
  }
  return tasks_[index.raw];
}

VcpuStatistics& Statistics::vcpu(VcpuIndex index) {
  if (vcpus_.size() <= index.raw) vcpus_.resize(index.raw + size_t{1});
  vcpus_[index.raw].seen = true;
  return vcpus_[index.raw];
}

void Statistics::add_vcpu(VcpuIndex index) { vcpu(index); }

void Statistics::interval(const Interval& interval) {
  TaskStatistics& of_task = task(interval.task);
  const uint64_t ns = window_.overlap_ns(interval.vcpu, interval.from_ns, interval.to_ns);
  const auto add = [&](StateTime& time) {
    time.ns += ns;
    if (!interval.certain) time.uncertain_ns += ns;
    of_task.lifetime_ns += ns;
  };
  switch (interval.state) {
    case TaskState::kUnknown: add(of_task.unknown); return;
    case TaskState::kRunning:
      add(of_task.running);
      ran(interval, of_task, ns);
      return;
    case TaskState::kBlocked:
      add(of_task.blocked);
      waited(interval, of_task, ns);
      return;
    case TaskState::kRunnable:
      add(of_task.runnable);
      if (interval.ended_by == EndedBy::kRun && interval.from_wake && interval.latency_certain &&
          window_.contains(interval.vcpu, interval.to_ns)) {
        of_task.wake_to_run.add(interval.to_ns - interval.runnable_since_ns, interval.to_ns);
      }
      return;
    case TaskState::kExited: return;
  }
}

void Statistics::ran(const Interval& interval, TaskStatistics& of_task, uint64_t ns) {
  vcpu(interval.vcpu).running_ns += ns;
  auto& last = last_vcpu_[interval.task.raw];
  const bool migrated = last && *last != interval.vcpu;
  last = interval.vcpu;
  if (window_.contains(interval.vcpu, interval.from_ns)) {
    ++of_task.switches;
    if (migrated) ++of_task.migrations;
  }
  if (window_.contains(interval.vcpu, interval.to_ns)) {
    if (interval.ended_by == EndedBy::kPreempted) ++of_task.preemptions;
    if (interval.ended_by == EndedBy::kYielded) ++of_task.yields;
  }
  if (ns == 0) return;
  const auto found = std::ranges::find(of_task.running_by_vcpu, interval.vcpu, &std::pair<VcpuIndex, uint64_t>::first);
  if (found != of_task.running_by_vcpu.end()) {
    found->second += ns;
  } else {
    of_task.running_by_vcpu.emplace_back(interval.vcpu, ns);
  }
}

void Statistics::waited(const Interval& interval, TaskStatistics& of_task, uint64_t ns) {
  if (!interval.certain) return;
  const bool inside = ns > 0 || window_.contains(interval.vcpu, interval.from_ns);
  if (!inside) return;
  const uint64_t unfinished = interval.ended_by == EndedBy::kUnfinished ? 1 : 0;
  ReasonTime& time = reason_time(of_task.by_reason, interval.reason);
  time.ns += ns;
  ++time.waits;
  time.unfinished += unfinished;

  ResourceKey key{interval.reason, resource_recurs(interval.reason, interval.resource) ? interval.resource : 0};
  uint32_t index = 0;
  ResourceStatistics* resource = &other_resources_;
  if (const auto found = resource_index_.find(key); found != resource_index_.end()) {
    index = found->second;
    resource = &resources_[index];
  } else if (resources_.size() < limits_.resources) {
    index = static_cast<uint32_t>(resources_.size());
    resource_index_.emplace(key, index);
    resources_.push_back({.key = key, .sites = {}});
    resource = &resources_.back();
  }
  resource->wait_ns += ns;
  ++resource->waits;
  resource->unfinished += unfinished;
  if (resource == &other_resources_) return;
  const uint64_t waiter = pair_key(index, interval.task.raw);
  if (waiters_.size() >= limits_.pairs) {
    if (!waiters_.contains(waiter)) ++pairs_left_out_.waiters;
  } else if (waiters_.try_emplace(waiter, true).second) {
    ++resource->waiters;
  }
  const uint64_t site = pair_key(index, interval.stack.raw);
  auto found = sites_.find(site);
  if (found == sites_.end()) {
    if (sites_.size() >= limits_.pairs) {
      ++pairs_left_out_.block_sites;
      return;
    }
    found = sites_.try_emplace(site, BlockSite{.stack = interval.stack}).first;
  }
  found.value().wait_ns += ns;
  ++found.value().waits;
}

void Statistics::halted(VcpuIndex index, WallNs from_ns, WallNs to_ns) {
  vcpu(index).halted_ns += window_.overlap_ns(index, from_ns, to_ns);
}

void Statistics::unknown_task(VcpuIndex index, WallNs from_ns, WallNs to_ns) {
  vcpu(index).unknown_ns += window_.overlap_ns(index, from_ns, to_ns);
}

void Statistics::enqueued(VcpuIndex index, WallNs at_ns, const Enqueue& enqueue) {
  if (!window_.contains(index, at_ns)) return;
  if (enqueue.to_cpu >= kMaxCpus) {
    ++enqueues_elsewhere_;
    return;
  }
  if (depths_.size() <= enqueue.to_cpu) depths_.resize(enqueue.to_cpu + 1);
  DepthStatistics& depth = depths_[enqueue.to_cpu];
  if (depth.enqueues == 0 || enqueue.depth > depth.max) {
    depth.max = enqueue.depth;
    depth.max_at_ns = at_ns;
  }
  ++depth.enqueues;
  // The depth is the guest's word: a sum stops at the largest value instead of wrapping.
  depth.sum = depth.sum + enqueue.depth < depth.sum ? UINT64_MAX : depth.sum + enqueue.depth;
}

void Statistics::finish(WallNs end_ns) {
  for (size_t i = 0; i < vcpus_.size(); ++i) {
    vcpus_[i].window_ns = window_.overlap_ns(VcpuIndex{static_cast<uint32_t>(i)}, 0, end_ns);
  }
  for (TaskStatistics& of_task : tasks_) {
    std::ranges::sort(of_task.by_reason, {}, &ReasonTime::reason);
    std::ranges::sort(of_task.running_by_vcpu, {}, &std::pair<VcpuIndex, uint64_t>::first);
  }
}

std::vector<ResourceStatistics> Statistics::resources(size_t top_sites) const {
  std::vector<ResourceStatistics> all = resources_;
  for (const auto& [pair, site] : sites_) all[pair >> 32].sites.push_back(site);
  for (ResourceStatistics& resource : all) {
    std::ranges::sort(resource.sites, {}, [](const BlockSite& site) { return std::tuple(~site.wait_ns, ~site.waits, site.stack); });
    resource.sites.resize(std::min(resource.sites.size(), top_sites));
  }
  std::ranges::sort(all, {}, [](const ResourceStatistics& resource) {
    return std::tuple(~resource.wait_ns, resource.key.reason, resource.key.resource);
  });
  return all;
}

}  // namespace qperf::sched
