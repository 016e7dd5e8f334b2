#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "analysis/message.h"
#include "analysis/profile_capture.h"
#include "analysis/sched_view.h"
#include "base/result.h"
#include "profile/filter.h"
#include "profile/frame_table.h"
#include "tools/profiles/selection.h"
#include "tools/qperf/command.h"

namespace qperf::tools {

/// What every subcommand takes that reads a capture's samples, as typed.
struct CaptureOptions {
  std::string path;
  SelectionText selection;
};

/// Adds FILE and the options that choose a part of it: -e, --cpu, --from, --until, --phase, --phase-occurrence, --task, --force.
/// `options` outlives `command`.
void add_capture_options(CLI::App& command, CaptureOptions& options);

/// The same options without FILE.
void add_selection_options(CLI::App& command, SelectionText& selection);

/// A root frame for each stack: none or the task's as the options say, or what the subcommand needs.
enum class Roots : uint8_t { kAsSelected, kTasks, kPhases };

/// What a subcommand reads beyond the sums of samples.
struct LoadNeeds {
  analysis::Order order = analysis::Order::kSums;
  analysis::Detail detail = analysis::Detail::kFunctions;
  analysis::SampleAccess access = analysis::SampleAccess::kOnce;
  Roots roots = Roots::kAsSelected;
  bool replay = false;  // the scheduler's events into waits: fails for a capture without them
  sched::IntervalSink* listener = nullptr;  // with replay: told of every interval
  bool replay_if_events = false;            // replay where there are events; a capture without them will do
  bool timeline_if_events = false;          // the same, with tasks told apart by number and their states over time kept
  bool label_samples = false;               // with task and phase where there are events: SchedView::labels_of()
};

/// A capture whose selected samples are named and summed.
struct LoadedCapture {
  analysis::CaptureProfile profile;
  profile::VcpuSet vcpus;                      // that were asked for
  std::unique_ptr<analysis::SchedView> sched;  // nullptr: neither the selection nor the needs have to do with tasks

  /// kIncomplete if part of the file is missing or damaged.
  [[nodiscard]] ExitCode exit_code() const noexcept;
  /// All that weakens what is shown of it.
  [[nodiscard]] analysis::Messages warnings() const;
};

/// Reads `options.path`. Stacks and frames go to `names`, which may hold those of another capture.
[[nodiscard]] Result<LoadedCapture> load_capture(const CaptureOptions& options, const LoadNeeds& needs,
                                                 profile::NamedStacks& names);

/// Each of its warnings on stderr, as "qperf: warning: ..."; `whose`: the file that they are about, where it is not the only one.
void print_warnings(const LoadedCapture& capture, std::string_view whose = {});

}  // namespace qperf::tools
