#include <fmt/core.h>

#include <cstdio>
#include <exception>
#include <memory>
#include <optional>

#include "analysis/profile_capture.h"
#include "analysis/report.h"
#include "analysis/units.h"
#include "base/printable.h"
#include "options.h"
#include "outputs.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {
namespace {

// The exit codes are part of the command line: README.md.
constexpr int kDone = 0;
constexpr int kFailed = 1;
constexpr int kUsage = 2;
constexpr int kIncomplete = 3;

int fail(const Error& error) {
  fmt::print(stderr, "qperf-analyzer: {}\n", printable(error.message));
  return error.code == ErrorCode::kUsage ? kUsage : kFailed;
}

void print(const analysis::Messages& messages) {
  for (const auto& message : messages)
    fmt::print(stderr, "{}{}\n", message.severity == analysis::Severity::kWarning ? "warning: " : "", printable(message.text));
}

void print_report(const analysis::CaptureProfile& profile) {
  for (const auto& line : analysis::report_lines(profile)) fmt::print(stderr, "{}\n", printable(line));
  print(profile.messages);
  print(analysis::weaknesses(profile));
}

void print_sched_report(const analysis::SchedView& sched) {
  for (const auto& line : sched.report_lines()) fmt::print(stderr, "{}\n", printable(line));
  print(sched.weaknesses());
}

analysis::CaptureRequest request_for(const Options& options) {
  analysis::CaptureRequest request = options.selection.capture_request(options.capture);
  if (options.format == Format::kSpeedscope && !options.baseline) request.order = analysis::Order::kTimeline;
  return request;
}

analysis::SchedRequest sched_request_for(const Options& options) {
  analysis::SchedRequest request = options.selection.sched_request();
  request.wakers = options.wakers ? sched::WakerSide::kAppend : sched::WakerSide::kLeaveOut;
  request.replay = options.off_cpu_output || options.sched_output;
  return request;
}

analysis::CaptureRequest baseline_request_for(const Options& options) {
  analysis::CaptureRequest request = request_for(options);
  request.path = *options.baseline;
  if (!options.baseline_elfs.empty()) request.elfs = options.baseline_elfs;
  return request;
}

Result<void> check_comparable(const analysis::CaptureInput& before, const analysis::CaptureInput& after) {
  if (before.legacy != after.legacy)
    return Error{ErrorCode::kUsage, fmt::format("--baseline: {} is of the older format and cannot be compared with a newer one",
                                                before.legacy ? before.path : after.path)};
  const auto old_mode = before.summary.header.mode;
  const auto new_mode = after.summary.header.mode;
  if (old_mode != new_mode)
    return Error{ErrorCode::kUsage,
                 fmt::format("--baseline: {} was recorded with mode={}, {} with mode={}: only captures of one "
                             "mode can be compared",
                             before.path, guest::mode_name(old_mode), after.path, guest::mode_name(new_mode))};
  if (analysis::weight_unit(before) != analysis::weight_unit(after))
    return Error{ErrorCode::kUsage, fmt::format("--baseline: {} ({}) and {} ({}): only captures of one mode can be compared", before.path,
                                                analysis::describe_mode(before), after.path, analysis::describe_mode(after))};
  return {};
}

Result<void> check_cpus_apart(const Options& options, const analysis::CaptureInput& input) {
  if ((!options.group_by_cpu && !options.split_by_cpu) || input.legacy) return {};
  if (input.summary.header.mode != guest::Mode::kExact) return {};
  return Error{ErrorCode::kUsage, fmt::format("{}: mode=exact counts all vCPUs together: {} needs mode=wall or mode=icount",
                                              input.path, options.group_by_cpu ? "--group-by-cpu" : "--split-by-cpu")};
}

/// Tasks and phases of one capture, a view for each; null where they are not asked for.
std::unique_ptr<analysis::SchedView> sched_view_for(const Options& options) {
  return options.needs_events() ? std::make_unique<analysis::SchedView>(sched_request_for(options)) : nullptr;
}

Result<int> run(const Options& options) {
  QPERF_RETURN_IF_ERROR(check_output_is_no_input(options));
  profile::NamedStacks names;
  std::optional<analysis::CaptureProfile> baseline;
  const auto baseline_sched = sched_view_for(options);
  if (options.baseline) {
    auto request = baseline_request_for(options);
    request.view = baseline_sched.get();
    QPERF_ASSIGN_OR_RETURN(baseline, analysis::profile_capture(request, names));
  }
  const auto sched = sched_view_for(options);
  auto request = request_for(options);
  request.view = sched.get();
  QPERF_ASSIGN_OR_RETURN(const auto current, analysis::profile_capture(request, names));
  QPERF_RETURN_IF_ERROR(check_cpus_apart(options, current.input));
  if (baseline) {
    QPERF_RETURN_IF_ERROR(check_comparable(baseline->input, current.input));
    print_report(*baseline);
    if (baseline_sched) print_sched_report(*baseline_sched);
  }
  print_report(current);
  if (sched) print_sched_report(*sched);

  const Profiles profiles{.names = names, .current = current, .baseline = baseline ? &*baseline : nullptr};
  if (baseline) {
    print(analysis::differences_between(baseline->input, current.input));
    if (profiles.different_rates()) {
      const bool wall = current.input.summary.header.mode == guest::Mode::kWall;
      print({{analysis::Severity::kNote,
              fmt::format("the rates differ: both are shown in {}", wall ? "nanoseconds" : "instructions")}});
    }
  }
  if (options.format == Format::kSpeedscope && !current.timeline.complete())
    print({{analysis::Severity::kNote,
            fmt::format("more than {} changes of stack: the profile is in the order of stacks, not of time",
                        profile::Timeline::kMaxRuns)}});
  QPERF_RETURN_IF_ERROR(write_outputs(options, profiles, sched.get()));
  return current.complete && (!baseline || baseline->complete) ? kDone : kIncomplete;
}

}  // namespace
}  // namespace qperf::tools

int main(int argc, char** argv) {
  using namespace qperf;
  try {
    const auto options = tools::parse_options(argc, argv);
    if (!options) return tools::fail(options.error());
    if (options->only_print) {
      fmt::print("{}", *options->only_print);
      return std::fflush(stdout) == 0 ? tools::kDone : tools::kFailed;
    }
    const auto code = tools::run(*options);
    return code ? *code : tools::fail(code.error());
  } catch (const std::exception& exception) {
    // Foreign code and the allocator throw; ours does not.
    std::fprintf(stderr, "qperf-analyzer: %s\n", exception.what());
    return tools::kFailed;
  }
}
