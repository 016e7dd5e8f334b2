#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "capture/events.h"
#include "guest/trace_events.h"

namespace qperf::bench {

inline constexpr uint64_t kTasksPerVcpu = 64;

/// The trace events of one vCPU whose tasks take turns: block, wake and enqueue of another, switch.
class EventStream {
 public:
  /// `places`: at least three return addresses, for the stacks of blocks.
  EventStream(uint32_t index, const std::vector<GuestVa>& places) : index_(index), sequences_(kTasksPerVcpu) {
    chunk.vcpu = VcpuIndex{index};
    for (size_t i = 0; i + 2 < places.size() && i < 16; ++i) chunk.stacks.push_back({places[i], places[i + 1], places[i + 2]});
  }

  /// Four more events, about `gap_ns` apart.
  void turn(uint64_t gap_ns) {
    const uint64_t from = running_;
    const uint64_t to = (running_ + 1) % kTasksPerVcpu;
    const auto stack = static_cast<uint32_t>(from % chunk.stacks.size());
    add(gap_ns, guest::trace_kind::kBlock, {id(from), ++sequences_[from], 1 + from % 17, 0xffffffd000000000 + from % 8 * 64}, stack);
    add(gap_ns, guest::trace_kind::kWake, {id(to), sequences_[to], id(from), 1});
    add(gap_ns, guest::trace_kind::kEnqueue, {id(to), index_, index_, from % 4, guest::enqueue_reason::kWake});
    add(gap_ns, guest::trace_kind::kSwitch, {id(from), id(to), guest::task_state::kBlocked});
    running_ = to;
  }

  /// The chunk is in the file: the next one begins.
  void written() {
    chunk.stored_before += chunk.events.size();
    chunk.events.clear();
  }

  [[nodiscard]] WallNs now_ns() const noexcept { return now_ns_; }
  [[nodiscard]] TaskId running() const noexcept { return TaskId{id(running_)}; }

  capture::EventChunk chunk;

 private:
  [[nodiscard]] uint64_t id(uint64_t task) const { return 1 + index_ * kTasksPerVcpu + task; }
  void add(uint64_t gap_ns, uint64_t kind, std::array<uint64_t, 5> args, uint32_t stack = capture::kNoEventStack) {
    // Gaps vary by half, as no delta that repeats is what real streams have.
    now_ns_ += gap_ns * 3 / 4 + sequence_ * 7919 % (gap_ns / 2 + 1);
    chunk.events.push_back({.sequence = sequence_, .wall_ns = now_ns_, .insns = now_ns_ / 2, .kind = kind, .args = args, .stack = stack});
    ++sequence_;
  }

  uint32_t index_;
  std::vector<uint64_t> sequences_;
  uint64_t running_ = 0;
  uint64_t sequence_ = 0;
  WallNs now_ns_ = 0;
};

}  // namespace qperf::bench
