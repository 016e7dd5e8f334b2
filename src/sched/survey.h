#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "capture/events.h"
#include "sched/loss_spans.h"
#include "sched/phases.h"
#include "sched/task_table.h"
#include "sched/window.h"

namespace qperf::sched {

/// The label of each task over time, for samples: they carry a task id, and the name in force at their time counts.
class NameHistory {
 public:
  explicit NameHistory(size_t most_tasks = kMaxTasks, size_t most_names = kMaxNames)
      : most_tasks_(most_tasks), most_names_(most_names), labels_(most_names) {}

  /// Metadata in any order. What is beyond the limits is counted and left out: the task keeps an earlier name.
  void add(TaskId task, WallNs at_ns, const TaskMetadata& metadata);
  void seal();
  /// `task#id` before the task's first metadata; `[unknown task]` for capture::kUnknownTask.
  [[nodiscard]] LabelId label(TaskId task, WallNs at_ns);
  /// The tid that the label's metadata gave; nullopt: none did.
  [[nodiscard]] std::optional<uint64_t> tid(LabelId label) const noexcept;
  [[nodiscard]] const LabelTable& labels() const noexcept { return labels_; }
  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }

 private:
  struct Change {
    WallNs at_ns;
    LabelId label;
  };
  size_t most_tasks_;
  size_t most_names_;
  tsl::robin_map<uint64_t, std::vector<Change>, KeyedHash> changes_;
  size_t changes_kept_ = 0;  // of all tasks
  uint64_t left_out_ = 0;
  LabelTable labels_;
  std::vector<uint64_t> tids_;  // by label as far as it goes; 0: none
};

/// A window in the clock of the user's choice, [from, until).
struct InsnsWindow {
  Insns from = 0;
  Insns until = UINT64_MAX;
};

/// The first reading of a capture: everything that must be known before the events can be replayed in one order: where
/// events were lost, which phases there are, when each vCPU's next chunk begins, when the capture ends.
/// Memory: grows with chunks, tasks and phase marks (at most kMaxPhaseMarks), and with names (kMaxNames), not with events.
class Survey {
 public:
  /// Chunks and samples in file order. `insns_window`: to find the wall time in which each vCPU is inside it.
  explicit Survey(std::optional<InsnsWindow> insns_window = std::nullopt) : insns_window_(insns_window) {}
  void chunk(const capture::EventChunk& chunk);
  /// Every sample too: they move the end of the capture and the insns windows.
  void sample(VcpuIndex vcpu, WallNs wall_ns, Insns insns);
  /// `vcpus`: how many the capture names at least.
  void finish(uint32_t vcpus);

  [[nodiscard]] bool has_events() const noexcept { return marker_events_ != 0; }
  [[nodiscard]] const capture::EventCounts& counts() const noexcept { return counts_; }
  [[nodiscard]] const capture::EventCounts& drops() const noexcept { return drops_; }
  [[nodiscard]] const std::map<VcpuIndex, capture::EventCounts>& drops_by_vcpu() const noexcept { return drops_by_vcpu_; }
  /// Events in chunks that are missing from the file.
  [[nodiscard]] uint64_t missing_events() const noexcept { return missing_events_; }
  [[nodiscard]] const LossSpans& losses() const noexcept { return losses_; }
  [[nodiscard]] const PhaseList& phases() const noexcept { return phases_; }
  [[nodiscard]] uint64_t phase_marks_left_out() const noexcept { return phase_marks_left_out_; }
  [[nodiscard]] NameHistory& names() noexcept { return names_; }
  [[nodiscard]] const NameHistory& names() const noexcept { return names_; }
  [[nodiscard]] WallNs end_ns() const noexcept { return end_ns_; }
  [[nodiscard]] uint32_t vcpus() const noexcept { return static_cast<uint32_t>(vcpus_.size()); }
  /// Wall ns of the first event of each of the vCPU's chunks, in file order, made monotonic.
  [[nodiscard]] std::span<const WallNs> chunk_begins(VcpuIndex vcpu) const noexcept;
  /// The window, cut by the insns window if one was given. `everywhere`: phases, or all of time.
  [[nodiscard]] Window window(const SpanSet& everywhere) const;

 private:
  struct Vcpu {
    WallNs last_wall_ns = 0;
    uint64_t stored = 0;
    std::vector<WallNs> chunk_begins;
    bool loss_open = false;
    WallNs loss_from_ns = 0;
    std::optional<WallNs> enters_ns;  // first record inside the insns window
    std::optional<WallNs> leaves_ns;  // first one behind it
  };
  Vcpu& state(VcpuIndex vcpu);
  void event(VcpuIndex vcpu, Vcpu& cpu, const capture::Event& event);
  void position(Vcpu& cpu, WallNs wall_ns, Insns insns);
  static bool spoils(const capture::EventCounts& counts) noexcept;

  std::optional<InsnsWindow> insns_window_;
  std::vector<Vcpu> vcpus_;
  capture::EventCounts counts_{};
  capture::EventCounts drops_{};
  std::map<VcpuIndex, capture::EventCounts> drops_by_vcpu_;
  uint64_t marker_events_ = 0;
  uint64_t missing_events_ = 0;
  uint64_t phase_marks_left_out_ = 0;
  LossSpans losses_;
  std::vector<PhaseMark> marks_;
  PhaseList phases_;
  NameHistory names_;
  WallNs end_ns_ = 0;
};

}  // namespace qperf::sched
