#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "sched/test_support.h"

/// A small scheduler that runs by the dice, emits what a guest emits, and keeps its own books: the slow model by which the
/// state machine is judged. It knows nothing of the machine's code.
namespace qperf::sched {

class RandomGuest {
 public:
  struct Truth {
    uint64_t task;
    TaskState state;
    uint64_t reason;  // blocked
    uint32_t vcpu;    // running: where; else where the state began
    WallNs from_ns;
    WallNs to_ns;
  };

  RandomGuest(uint64_t seed, uint32_t vcpus, uint32_t steps) : random_(seed), current_(vcpus), idle_(vcpus) {
    for (uint32_t v = 0; v < vcpus; ++v) {
      // The first switch makes each vCPU's task known: before it the idle task has only its metadata.
      idle_[v] = next_id_++;
      born(v, idle_[v], "idle");
    }
    const uint64_t first = spawn(0);
    for (uint32_t v = 0; v < vcpus; ++v) {
      const uint64_t boot = next_id_++;
      born(v, boot, "boot");
      stream.enqueue(at(v), boot, v, v, 1, guest::enqueue_reason::kPreempt);
      const uint64_t next = v == 0 ? first : idle_[v];
      tick();
      stream.switch_to(at(v), boot, next, guest::task_state::kReady);
      become(boot, TaskState::kRunnable, v);
      become(next, TaskState::kRunning, v);
      current_[v] = next;
    }
    for (uint32_t i = 0; i < steps; ++i) step();
    end_ns = now_ + 1 + pick(100);
    for (auto& [id, task] : tasks_) {
      if (task.state != TaskState::kExited) close(id, end_ns);
    }
  }

  StreamBuilder stream;
  std::vector<Truth> truth;
  WallNs end_ns = 0;
  std::vector<uint64_t> idle_tasks() const { return idle_; }

 private:
  struct Task {
    TaskState state = TaskState::kUnknown;
    WallNs since = 0;
    uint32_t vcpu = 0;
    uint64_t sequence = 0;
    uint64_t reason = 0;
  };

  uint64_t pick(uint64_t below) { return random_() % below; }
  void tick() { now_ += 1 + pick(50); }
  StreamBuilder::At at(uint32_t vcpu) {
    tick();
    return {vcpu, now_};
  }
  void close(uint64_t id, WallNs to) {
    const Task& task = tasks_[id];
    truth.push_back({id, task.state, task.reason, task.vcpu, task.since, to});
  }
  void become(uint64_t id, TaskState state, uint32_t vcpu) {
    close(id, now_);
    Task& task = tasks_[id];
    task.state = state;
    task.since = now_;
    task.vcpu = vcpu;
  }
  void born(uint32_t vcpu, uint64_t id, std::string_view name) {
    stream.metadata(at(vcpu), id, 0, 0, name);
    tasks_[id] = Task{.since = now_, .vcpu = vcpu};
  }
  uint64_t spawn(uint32_t vcpu) {
    const uint64_t id = next_id_++;
    born(vcpu, id, "worker");
    stream.enqueue(at(vcpu), id, vcpu, vcpu, 1, guest::enqueue_reason::kSpawn);
    become(id, TaskState::kRunnable, vcpu);
    return id;
  }
  std::vector<uint64_t> in_state(TaskState state) {
    std::vector<uint64_t> ids;
    for (const auto& [id, task] : tasks_) {
      if (task.state == state) ids.push_back(id);
    }
    return ids;
  }
  /// Another runnable task, or the vCPU's idle task.
  uint64_t choose(uint32_t vcpu) {
    auto ids = in_state(TaskState::kRunnable);
    std::erase_if(ids, [&](uint64_t id) { return std::ranges::find(idle_, id) != idle_.end(); });
    return ids.empty() ? idle_[vcpu] : ids[pick(ids.size())];
  }
  void switch_away(uint32_t vcpu, uint64_t state, TaskState becomes) {
    const uint64_t from = current_[vcpu];
    const uint64_t to = choose(vcpu);
    stream.switch_to(at(vcpu), from, to, state);
    become(from, becomes, vcpu);
    become(to, TaskState::kRunning, vcpu);
    current_[vcpu] = to;
  }
  void wake(uint32_t vcpu, uint64_t id) {
    stream.wake(at(vcpu), id, tasks_[id].sequence, current_[vcpu], pick(8), {0x100 + pick(4)});
  }
  void step() {
    const auto v = static_cast<uint32_t>(pick(current_.size()));
    const uint64_t id = current_[v];
    const bool idle = id == idle_[v];
    switch (pick(9)) {
      case 0: spawn(v); return;
      case 1:
      case 2: {  // block, sometimes woken before the switch-out
        if (idle) break;
        Task& task = tasks_[id];
        task.reason = 1 + pick(20);
        stream.block(at(v), id, ++task.sequence, task.reason, 0xffff000000000000 + pick(5) * 64, {0x1000 + pick(9), 0x2000});
        if (pick(4) != 0) {
          switch_away(v, guest::task_state::kBlocked, TaskState::kBlocked);
          return;
        }
        const auto other = static_cast<uint32_t>(pick(current_.size()));
        wake(other, id);
        if (other == v && pick(2) == 0) {  // goes on, and is preempted later
          stream.enqueue(at(v), id, v, v, 1, guest::enqueue_reason::kPreempt);
        }
        const uint64_t prev_state = pick(2) == 0 ? guest::task_state::kReady : guest::task_state::kBlocked;
        switch_away(v, other == v ? guest::task_state::kReady : prev_state, TaskState::kRunnable);
        stream.enqueue(at(other), id, other, v, 2, guest::enqueue_reason::kDeferredWake);
        return;
      }
      case 3:
        if (idle || choose(v) == idle_[v]) break;
        stream.enqueue(at(v), id, v, v, pick(5), pick(2) == 0 ? guest::enqueue_reason::kPreempt : guest::enqueue_reason::kYield);
        switch_away(v, guest::task_state::kReady, TaskState::kRunnable);
        return;
      case 4:
        if (idle || pick(3) != 0) break;
        stream.exit(at(v), id);
        switch_away(v, guest::task_state::kExited, TaskState::kExited);
        return;
      case 5: {  // steal
        const uint64_t other = choose(v);
        if (other == idle_[v]) break;
        stream.enqueue(at(v), other, pick(4), v, pick(4), guest::enqueue_reason::kWorkSteal);
        return;
      }
      case 6:
        if (!idle || choose(v) == id) break;
        switch_away(v, guest::task_state::kReady, TaskState::kRunnable);
        return;
      default: {
        const auto blocked = in_state(TaskState::kBlocked);
        if (blocked.empty()) break;
        const uint64_t woken = blocked[pick(blocked.size())];
        wake(v, woken);
        become(woken, TaskState::kRunnable, v);
        stream.enqueue(at(v), woken, v, v, 1, guest::enqueue_reason::kWake);
        return;
      }
    }
    stream.idle(at(v));
    stream.resume(at(v));
  }

  std::mt19937_64 random_;
  WallNs now_ = 0;
  uint64_t next_id_ = 1;
  std::vector<uint64_t> current_;
  std::vector<uint64_t> idle_;
  std::map<uint64_t, Task> tasks_;
};

}  // namespace qperf::sched
