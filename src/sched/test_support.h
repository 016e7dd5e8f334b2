#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/pattern.h"
#include "capture/events.h"
#include "guest/trace_events.h"
#include "sched/replay.h"
#include "sched/survey.h"

/// Shared by the unit tests of this folder and by tests/sched.
namespace qperf::sched {

/// Writes an event stream the way a guest and the recorder would: sequence numbers per vCPU, in order of calls.
class StreamBuilder {
 public:
  struct At {
    uint32_t vcpu;
    WallNs ns;
  };

  capture::Event& marker(At at, uint64_t kind, std::array<uint64_t, 5> args, std::vector<uint64_t> stack = {}) {
    capture::Event& event = add(at, capture::EventType::kMarker);
    event.kind = kind;
    event.args = args;
    if (!stack.empty()) {
      auto& stacks = chunks_[at.vcpu].stacks;
      event.stack = static_cast<uint32_t>(stacks.size());
      stacks.emplace_back();
      for (const uint64_t frame : stack) stacks.back().push_back(GuestVa{frame});
    }
    return event;
  }
  void metadata(At at, uint64_t task, uint64_t pid, uint64_t tid, std::string_view name) {
    const auto words = guest::trace_name_words(name);
    marker(at, guest::trace_kind::kMetadata, {task, pid, tid, words[0], words[1]});
  }
  void switch_to(At at, uint64_t from, uint64_t to, uint64_t state) {
    marker(at, guest::trace_kind::kSwitch, {from, to, state});
  }
  void block(At at, uint64_t task, uint64_t sequence, uint64_t reason, uint64_t resource = 0, std::vector<uint64_t> stack = {}) {
    marker(at, guest::trace_kind::kBlock, {task, sequence, reason, resource}, std::move(stack));
  }
  void wake(At at, uint64_t task, uint64_t sequence, uint64_t waker = 0, uint64_t source = 2, std::vector<uint64_t> stack = {}) {
    marker(at, guest::trace_kind::kWake, {task, sequence, waker, source}, std::move(stack));
  }
  void exit(At at, uint64_t task) { marker(at, guest::trace_kind::kExit, {task}); }
  void enqueue(At at, uint64_t task, uint64_t from_cpu, uint64_t to_cpu, uint64_t depth, uint64_t reason) {
    marker(at, guest::trace_kind::kEnqueue, {task, from_cpu, to_cpu, depth, reason});
  }
  void phase(At at, uint64_t what, std::string_view name) {
    const auto words = guest::trace_name_words(name);
    marker(at, guest::trace_kind::kPhase, {what, 0, words[0], words[1]});
  }
  void idle(At at) { add(at, capture::EventType::kVcpuIdle); }
  void resume(At at) { add(at, capture::EventType::kVcpuResume); }
  /// Events of one class lost behind the vCPU's last event.
  void lose(uint32_t vcpu, capture::EventClass which, uint64_t count = 1) {
    capture::EventChunk& chunk = chunks_[vcpu];
    capture::EventLoss loss{.first_sequence = next_sequence_[vcpu], .last_sequence = next_sequence_[vcpu] + count - 1};
    loss.counts[static_cast<size_t>(which)] = count;
    next_sequence_[vcpu] += count;
    chunk.losses.push_back(loss);
  }

  /// One chunk per vCPU, or several of at most `most` events each, round robin as a recorder flushes them.
  [[nodiscard]] std::vector<capture::EventChunk> chunks(size_t most = SIZE_MAX) const {
    std::vector<capture::EventChunk> out;
    for (size_t first = 0, left = 1; left > 0; first += most) {
      left = 0;
      for (const auto& [vcpu, chunk] : chunks_) {
        if (first >= chunk.events.size() && !(first == 0 && !chunk.losses.empty())) continue;
        const size_t last = most >= chunk.events.size() - first ? chunk.events.size() : first + most;
        capture::EventChunk part = capture::event_part(chunk, first, last);
        part.vcpu = VcpuIndex{vcpu};
        left += chunk.events.size() - last;
        out.push_back(std::move(part));
      }
      if (most == SIZE_MAX) break;
    }
    return out;
  }

 private:
  capture::Event& add(At at, capture::EventType type) {
    auto& events = chunks_[at.vcpu].events;
    chunks_[at.vcpu].vcpu = VcpuIndex{at.vcpu};
    events.push_back({.type = type, .sequence = next_sequence_[at.vcpu]++, .wall_ns = at.ns, .insns = at.ns / 2});
    return events.back();
  }

  std::map<uint32_t, capture::EventChunk> chunks_;
  std::map<uint32_t, uint64_t> next_sequence_;
};

/// A whole analysis with every interval kept.
class Analysed final : public IntervalSink {
 public:
  struct Span {
    VcpuIndex vcpu;
    WallNs from_ns;
    WallNs to_ns;
  };

  explicit Analysed(const std::vector<capture::EventChunk>& chunks, SpanSet everywhere = {}, WakerSide wakers = WakerSide::kLeaveOut,
                    WallNs end_ns = 0, std::optional<InsnsWindow> insns_window = std::nullopt)
      : survey(insns_window) {
    for (const auto& chunk : chunks) survey.chunk(chunk);
    if (end_ns != 0) survey.sample(VcpuIndex{0}, end_ns, 0);
    survey.finish(0);
    window = survey.window(everywhere);
    replay = std::make_unique<Replay>(survey, window, wakers);
    replay->set_listener(this);
    for (const auto& chunk : chunks) replay->chunk(chunk);
    replay->finish();
  }

  void interval(const Interval& interval) override { intervals.push_back(interval); }
  void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override { halts.push_back({vcpu, from_ns, to_ns}); }
  void unknown_task(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) override { unknown.push_back({vcpu, from_ns, to_ns}); }
  void enqueued(VcpuIndex, WallNs, const Enqueue&) override {}

  [[nodiscard]] std::vector<Interval> of(uint64_t id) const {
    std::vector<Interval> out;
    const auto task = replay->tasks().find(TaskId{id});
    for (const Interval& one : intervals) {
      if (task && one.task == *task) out.push_back(one);
    }
    return out;
  }
  /// "running 10..20 blocked 20..30?" of one task; '?' marks the uncertain ones.
  [[nodiscard]] std::string story(uint64_t id) const {
    constexpr const char* kNames[] = {"unknown", "running", "blocked", "runnable", "exited"};
    std::string text;
    for (const Interval& one : of(id)) {
      if (!text.empty()) text += ' ';
      text += kNames[static_cast<size_t>(one.state)];
      text += ' ' + std::to_string(one.from_ns) + ".." + std::to_string(one.to_ns);
      if (!one.certain) text += '?';
    }
    return text;
  }
  [[nodiscard]] uint64_t odd(Oddity oddity) const { return replay->oddities()[static_cast<size_t>(oddity)]; }
  [[nodiscard]] uint64_t odd_total() const {
    uint64_t sum = 0;
    for (const uint64_t count : replay->oddities()) sum += count;
    return sum;
  }
  [[nodiscard]] std::string folded(const Pattern* filter = nullptr) const {
    HexFrameNames names;
    return folded_text(replay->off_cpu_lines(filter, names));
  }

  Survey survey;
  Window window;
  std::unique_ptr<Replay> replay;
  std::vector<Interval> intervals;
  std::vector<Span> halts;
  std::vector<Span> unknown;
};

}  // namespace qperf::sched
