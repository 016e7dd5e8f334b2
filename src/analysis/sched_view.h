#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <future>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/message.h"
#include "analysis/progress.h"
#include "analysis/sample_view.h"
#include "base/keyed_hash.h"
#include "base/pattern.h"
#include "profile/filter.h"
#include "profile/ids.h"
#include "sched/off_cpu.h"
#include "sched/phases.h"
#include "sched/replay.h"
#include "sched/survey.h"

namespace qperf::analysis {

/// What of the scheduler's events is asked for.
struct SchedRequest {
  std::optional<uint64_t> from;  // as CaptureRequest's
  std::optional<uint64_t> until;
  profile::VcpuSet vcpus;  // intervals of others, and those that their events began, are left out
  std::optional<std::string> phase;
  std::optional<uint64_t> occurrence;  // with a phase; nullopt: all of them
  std::optional<Pattern> tasks;        // labels that it finds; nullopt: all
  bool group_by_task = false;   // a root for each task
  bool group_by_phase = false;  // instead: a root for each phase, of those that are open the innermost one
  /// Roots tell tasks and phases apart: SchedView::labels_of().
  bool label_samples = false;
  /// Roots tell tasks apart, whatever their names: SchedView::task_of(). Stacks get no root frame.
  bool number_tasks = false;
  /// A capture without trace events is taken as it is, unless tasks, a phase or their grouping were asked for.
  bool events_optional = false;
  sched::WakerSide wakers = sched::WakerSide::kLeaveOut;
  /// Off-CPU time or statistics are wanted: the events are replayed, not only surveyed.
  bool replay = false;
  /// With replay: told of every interval, the window aside. Outlives the reading.
  sched::IntervalSink* listener = nullptr;
  /// With replay: what became of tasks and vCPUs over time is kept.
  bool intervals = false;
  Progress* progress = nullptr;
};

/// What is known about the samples under one root.
struct SampleLabels {
  std::string task;             // printable
  std::optional<uint64_t> tid;  // as the guest gave it
  std::string phase;            // the innermost one, printable; empty: none
};

/// Tasks, phases and waiting of one capture (docs/off-cpu.md), and through them which samples are looked at.
class SchedView final : public SampleView {
 public:
  explicit SchedView(SchedRequest request);
  ~SchedView() override;

  /// Fails for a capture without trace events, and for a phase that it does not have.
  /// The events are then replayed on a thread of their own while samples are read: root_of() asks nothing that the replay changes.
  Result<void> prepare(const CaptureInput& input, const ImageSet& images) override;
  Result<void> finish() override;
  std::optional<uint32_t> root_of(VcpuIndex vcpu, TaskId task, WallNs wall_ns) override;
  [[nodiscard]] std::optional<std::string> root_name(uint32_t root) const override;
  /// With SchedRequest::label_samples, of a root that is not kNoRoot.
  [[nodiscard]] SampleLabels labels_of(uint32_t root) const;
  /// False for a capture without trace events (SchedRequest::events_optional).
  [[nodiscard]] bool has_events() const noexcept { return survey_ != nullptr && survey_->has_events(); }

  /// Events by kind, drops, tasks, phases: lines for a person.
  [[nodiscard]] std::vector<std::string> report_lines() const;
  /// What makes the attribution of waiting incomplete.
  [[nodiscard]] Messages weaknesses() const;

  /// Whether the task of that label is among those that were asked for.
  [[nodiscard]] bool wants(const std::string& label) const;

  /// Reads the events once more and tells `sink` every interval of the capture, for pictures of time. Tasks, labels and stacks
  /// have the numbers that they have in replayed().
  Result<void> replay_again(sched::IntervalSink& sink) const;
  /// nullptr: all tasks.
  [[nodiscard]] const Pattern* task_filter() const noexcept { return request_.tasks ? &*request_.tasks : nullptr; }
  /// False where the events were not replayed, or there are none.
  [[nodiscard]] bool has_replay() const noexcept { return replay_ != nullptr; }

  /// With SchedRequest::replay, after finish(), if has_replay().
  [[nodiscard]] const sched::Replay& replayed() const noexcept { return *replay_; }
  [[nodiscard]] const sched::Window& window() const noexcept { return window_; }
  [[nodiscard]] std::vector<std::string> frames_of(sched::StackId stack) const;  // leaf first
  [[nodiscard]] std::vector<sched::OffCpuLine> off_cpu_lines() const;
  [[nodiscard]] std::string statistics_json() const;
  [[nodiscard]] const sched::Survey& survey() const noexcept { return *survey_; }
  /// Frames of an entry of replayed().off_cpu(), root first.
  [[nodiscard]] std::vector<std::string> off_cpu_frames(uint32_t entry) const;
  /// With SchedRequest::intervals too.
  [[nodiscard]] const sched::IntervalLog& intervals() const noexcept { return *log_; }
  /// With SchedRequest::number_tasks too; nullopt: not known, or no event names it.
  [[nodiscard]] std::optional<sched::TaskIndex> task_of(uint32_t root) const;

 private:
  Result<void> survey_events(const CaptureInput& input);
  void count_drops(const CaptureInput& input);
  Result<void> begin_replay();
  uint32_t phase_root(WallNs wall_ns);
  uint32_t numbered_root(TaskId task);
  uint32_t labelled_root(sched::LabelId task, WallNs wall_ns);

  struct LabelPair {
    uint32_t task = 0;   // a LabelId
    uint32_t phase = 0;  // index into the survey's phases, of the name's first occurrence; kNoPhase
  };
  static constexpr uint32_t kNoPhase = 0xffffffff;

  SchedRequest request_;
  std::string path_;
  std::unique_ptr<sched::Survey> survey_;
  std::map<VcpuIndex, capture::EventCounts> drops_by_vcpu_;
  uint64_t not_written_ = 0;
  bool vcpus_share_a_thread_ = false;
  sched::SpanSet selected_;  // by phase; all of time without one
  sched::Window window_;
  std::unique_ptr<sched::IntervalLog> log_;
  std::unique_ptr<sched::Replay> replay_;
  const ImageSet* images_ = nullptr;
  std::unique_ptr<sched::FrameNames> names_;
  std::vector<signed char> wanted_;  // by label: -1 not yet asked, 0, 1
  std::optional<sched::InnermostPhases> innermost_;
  std::vector<uint32_t> first_occurrence_;  // by phase
  std::vector<LabelPair> label_pairs_;      // by root
  std::vector<TaskId> numbered_tasks_;      // by root
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> number_of_task_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> root_of_pair_;
  std::future<Result<void>> replaying_;  // the last member: its end is waited for before the others go
};

}  // namespace qperf::analysis
