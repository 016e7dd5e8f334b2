#include "tools/qperf/report_input.h"

#include <fmt/core.h>

#include <algorithm>

#include "analysis/units.h"
#include "tools/profiles/runs.h"

namespace qperf::tools {
namespace {

using profile::FrameId;

/// Takes the root frame of each stack for its group.
void group_by_root(ReportInput& input) {
  std::vector<FrameId> rest;
  for (report::Row& row : input.rows) {
    const auto stack = input.names.stacks[row.stack];
    if (stack.empty()) continue;
    const FrameId root = stack.front();
    input.groups.try_emplace(root.raw, input.names.frames[root].name);
    rest.assign(stack.begin() + 1, stack.end());
    row.group = root.raw;
    row.stack = input.names.stacks.intern(rest);
  }
}

/// Waiting instead of samples.
void take_off_cpu(ReportInput& input) {
  input.unit = "ns";
  input.names = {};
  std::vector<FrameId> frames;
  for (const sched::OffCpuLine& line : input.capture.sched->off_cpu_lines()) {
    frames.clear();
    for (const std::string& frame : line.frames) frames.push_back(input.names.frames.intern({.name = frame, .file = "", .line = 0}));
    input.rows.push_back({.group = 0, .stack = input.names.stacks.intern(frames), .weight = line.weight_ns});
  }
}

/// Stacks of source lines instead of functions.
void take_lines(ReportInput& input) {
  const profile::LocatedProfile& located = *input.capture.profile.located;
  const report::Depth depth = report_depth(input.capture.profile.input);
  const profile::FrameTable functions = std::move(input.names.frames);
  input.names = {};
  std::vector<FrameId> frames;
  for (const profile::LocatedRow& row : located.rows) {
    frames.clear();
    for (const profile::LocationId location : located.stacks[row.stack]) {
      for (const profile::SourceLine& source : report::lines_at(located, location, depth)) {
        const profile::Frame& function = functions[source.frame];
        const bool known = !function.file.empty() && source.line != 0;
        std::string name = known ? fmt::format("{}:{} ({})", function.file, source.line, function.name)
                                 : fmt::format("[unknown line] ({})", function.name);
        const FrameId frame = input.names.frames.intern({.name = std::move(name), .file = function.file, .line = known ? source.line : 0});
        if (frame.raw == input.searched.size()) input.searched.push_back(function.name);
        frames.push_back(frame);
      }
    }
    std::ranges::reverse(frames);
    input.rows.push_back({.group = 0, .stack = input.names.stacks.intern(frames), .weight = row.weight});
  }
}

void take_vcpus(ReportInput& input) {
  for (const auto& row : input.capture.profile.weights.rows()) {
    input.groups.try_emplace(row.vcpu.raw, fmt::format("vCPU {}", row.vcpu.raw));
    input.rows.push_back({.group = row.vcpu.raw, .stack = row.stack, .weight = row.weight});
  }
}

Result<void> check_vcpus_are_apart(const analysis::CaptureInput& input) {
  if (input.legacy || input.summary.header.mode != guest::Mode::kExact) return {};
  return Error{ErrorCode::kUsage,
               fmt::format("{}: mode=exact counts all vCPUs together: --by cpu needs mode=wall or mode=icount", input.path)};
}

}  // namespace

report::Depth report_depth(const analysis::CaptureInput& input) {
  const bool exact = analysis::weight_unit(input) == analysis::WeightUnit::kInstructions;
  return exact ? report::Depth::kLeafOnly : report::Depth::kWhole;
}

Result<ReportInput> load_report(const ReportOptions& options) {
  ReportInput input;
  LoadNeeds needs;
  needs.replay = options.off_cpu;
  needs.replay_if_events = options.trace.given();
  if (options.by == ReportBy::kLine) needs.detail = analysis::Detail::kLines;
  if (options.by == ReportBy::kPhase) needs.roots = Roots::kPhases;
  if (options.by == ReportBy::kTask && !options.off_cpu) needs.roots = Roots::kTasks;
  QPERF_ASSIGN_OR_RETURN(input.capture, load_capture(options.capture, needs, input.names));
  input.unit = analysis::unit_name(analysis::weight_unit(input.capture.profile.input));
  if (options.off_cpu) {
    take_off_cpu(input);
    if (options.by == ReportBy::kTask) group_by_root(input);
    return input;
  }
  switch (options.by) {
    case ReportBy::kFunction:
    case ReportBy::kFile: input.rows = rows_of(input.capture.profile); break;
    case ReportBy::kLine: take_lines(input); break;
    case ReportBy::kCpu:
      QPERF_RETURN_IF_ERROR(check_vcpus_are_apart(input.capture.profile.input));
      take_vcpus(input);
      break;
    case ReportBy::kTask:
    case ReportBy::kPhase:
      input.rows = rows_of(input.capture.profile);
      group_by_root(input);
      break;
  }
  return input;
}

}  // namespace qperf::tools
