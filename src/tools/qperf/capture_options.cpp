#include "tools/qperf/capture_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <utility>

#include "analysis/report.h"
#include "base/printable.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {

void add_capture_options(CLI::App& command, CaptureOptions& options) {
  command.add_option("FILE", options.path, "a capture, as libqperf.so wrote it")->required();
  add_selection_options(command, options.selection);
}

void add_selection_options(CLI::App& command, SelectionText& selection) {
  command
      .add_option("-e,--elf", selection.elfs,
                  "ELF of the kernel that ran, with symbols; repeat for firmware, a loader (linked ELFs: no .ko). @SLIDE: bytes it ran above "
                  "its link address (found out without it). Default: the one that the capture names")
      ->type_name("ELF[@SLIDE]")
      ->allow_extra_args(false);
  command.add_option("--cpu", selection.cpu, "only these vCPUs, such as 0,2-3")->type_name("LIST");
  command
      .add_option("--from", selection.from,
                  "only what is from N on: wall nanoseconds since the start, or with mode=icount kernel instructions of the "
                  "sample's vCPU")
      ->type_name("N");
  command.add_option("--until", selection.until, "only what is before N, counted as --from")->type_name("N");
  command.add_option("--phase", selection.phase, "only what lies in the guest's phase NAME (as --task, it needs a capture made with trace=)")
      ->type_name("NAME");
  command.add_option("--phase-occurrence", selection.occurrence, "only its N-th occurrence, from 1 [all]")->type_name("N");
  command.add_option("--task", selection.task, "only tasks in whose label (name[tid]) REGEX is found")->type_name("REGEX");
  command.add_flag("--force", selection.force, "use ELFs that are not what ran");
}

ExitCode LoadedCapture::exit_code() const noexcept { return profile.complete ? kDone : kIncomplete; }

analysis::Messages LoadedCapture::warnings() const {
  analysis::Messages found;
  const auto take = [&](const analysis::Messages& messages) {
    for (const auto& message : messages)
      if (message.severity == analysis::Severity::kWarning) found.push_back(message);
  };
  take(profile.messages);
  take(analysis::weaknesses(profile));
  if (sched && sched->has_events()) take(sched->weaknesses());
  return found;
}

Result<LoadedCapture> load_capture(const CaptureOptions& options, const LoadNeeds& needs, profile::NamedStacks& names) {
  if (options.path == "-") return Error{ErrorCode::kUsage, "FILE cannot be standard input: a capture is read twice"};
  QPERF_ASSIGN_OR_RETURN(Selection selection, check_selection(options.selection));
  if (needs.roots != Roots::kAsSelected) selection.group_by_task = needs.roots == Roots::kTasks;
  LoadedCapture loaded;
  ProgressLine progress(options.path, STDERR_FILENO);
  loaded.vcpus = selection.vcpus;
  if (selection.needs_events() || needs.replay || needs.replay_if_events || needs.label_samples || needs.timeline_if_events ||
      needs.roots == Roots::kPhases) {
    analysis::SchedRequest sched = selection.sched_request();
    sched.replay = needs.replay || needs.replay_if_events || needs.timeline_if_events;
    sched.number_tasks = needs.timeline_if_events;
    sched.intervals = needs.timeline_if_events;
    sched.listener = needs.listener;
    sched.group_by_phase = needs.roots == Roots::kPhases;
    sched.label_samples = needs.label_samples;
    sched.progress = &progress;
    sched.events_optional = !needs.replay && needs.roots != Roots::kPhases;
    loaded.sched = std::make_unique<analysis::SchedView>(std::move(sched));
  }
  analysis::CaptureRequest request = selection.capture_request(options.path);
  request.order = needs.order;
  request.detail = needs.detail;
  request.access = needs.access;
  request.view = loaded.sched.get();
  request.progress = &progress;
  QPERF_ASSIGN_OR_RETURN(loaded.profile, analysis::profile_capture(request, names));
  return loaded;
}

void print_warnings(const LoadedCapture& capture, std::string_view whose) {
  for (const auto& message : capture.warnings()) report_warning(printable(whose.empty() ? message.text : fmt::format("{}: {}", whose, message.text)));
}

}  // namespace qperf::tools
