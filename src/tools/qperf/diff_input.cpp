#include "tools/qperf/diff_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analysis/report.h"
#include "analysis/units.h"
#include "tools/profiles/runs.h"

namespace qperf::tools {
namespace {

using analysis::CaptureInput;
using analysis::WeightUnit;

constexpr double kNsPerSecond = 1e9;

Error usage(std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; }

Result<void> check_comparable(const CaptureInput& first, const CaptureInput& other) {
  if (first.legacy != other.legacy)
    return usage(fmt::format("{} is of the older format and cannot be compared with {}", (first.legacy ? first : other).path,
                             (first.legacy ? other : first).path));
  if (analysis::weight_unit(first) == analysis::weight_unit(other)) return {};
  return usage(fmt::format("{} ({}) and {} ({}): only recordings of one mode can be compared", first.path, analysis::describe_mode(first), other.path,
                           analysis::describe_mode(other)));
}

bool is_wall(const CaptureInput& input) { return analysis::weight_unit(input) == WeightUnit::kTicks; }

/// Samples of other tools stand for no time and no instructions, and how long was recorded is not known of them either.
Result<void> check_normalize(const CaptureInput& input, Normalize normalize) {
  if (normalize == Normalize::kTotal || analysis::weight_unit(input) != WeightUnit::kSamples) return {};
  return usage(fmt::format("{}: {}: its weights are samples, which tell no {}: it goes with --normalize total only", input.path,
                           analysis::describe_mode(input), normalize == Normalize::kTime ? "time" : "instructions"));
}

/// Seconds of recording behind the selected samples.
Result<double> seconds_of(const CaptureInput& input, const SelectionText& selection) {
  const bool windowed = !selection.from.empty() || !selection.until.empty() || !selection.phase.empty() || !selection.task.empty();
  if (windowed)
    return usage("--normalize time: the length of a part of a recording is not told: it goes without --from, --until, --phase and "
                 "--task; --normalize total goes with them");
  const auto& ledger = input.summary.last_ledger;
  if (input.legacy || !ledger) return usage(fmt::format("{}: --normalize time: how long it was recorded is not known", input.path));
  const auto& trailer = input.summary.trailer;
  const WallNs end_ns = trailer ? trailer->end_wall_ns : ledger->wall_ns;
  const WallNs running_ns = end_ns - std::min(end_ns, ledger->stopped_ns);
  if (running_ns == 0) return usage(fmt::format("{}: --normalize time: it was recorded for no time at all", input.path));
  return static_cast<double>(running_ns) / kNsPerSecond;
}

/// Thousands of kernel instructions of the selected vCPUs.
Result<double> kinsns_of(const LoadedCapture& capture, const SelectionText& selection) {
  const CaptureInput& input = capture.profile.input;
  if (!selection.from.empty() || !selection.until.empty() || !selection.phase.empty() || !selection.task.empty())
    return usage("--normalize instructions: the instructions of a part of a recording are not told: it goes without --from, "
                 "--until, --phase and --task; --normalize total goes with them");
  uint64_t insns = 0;
  if (input.summary.last_ledger)
    for (const auto& vcpu : input.summary.last_ledger->vcpus)
      if (capture.vcpus.contains(vcpu.vcpu)) insns += vcpu.kernel_insns;
  if (insns == 0)
    return usage(fmt::format("{}: --normalize instructions: it has no instruction counts", input.path));
  return static_cast<double>(insns) / 1000;
}

Result<double> value_per_weight(const LoadedCapture& capture, const DiffOptions& options, const SelectionText& selection) {
  const CaptureInput& input = capture.profile.input;
  QPERF_RETURN_IF_ERROR(check_normalize(input, options.normalize));
  const double quantity = quantity_of_one(input);
  switch (options.normalize) {
    case Normalize::kTotal: return percent_per_weight(capture.profile);
    case Normalize::kTime: {
      QPERF_ASSIGN_OR_RETURN(const double seconds, seconds_of(input, selection));
      return is_wall(input) ? quantity / 1e6 / seconds : quantity / 1000 / seconds;
    }
    case Normalize::kInstructions: {
      QPERF_ASSIGN_OR_RETURN(const double kinsns, kinsns_of(capture, selection));
      return quantity / kinsns;
    }
  }
  return 0;
}

std::string unit_of(const CaptureInput& input, Normalize normalize) {
  switch (normalize) {
    case Normalize::kTotal: return "%";
    case Normalize::kTime: return is_wall(input) ? "ms/s" : "kinsn/s";
    case Normalize::kInstructions: return is_wall(input) ? "ns/kinsn" : "insn/kinsn";
  }
  return "?";
}

Result<void> load_side(const std::vector<std::string>& paths, const SelectionText& selection, const DiffOptions& options,
                       const LoadNeeds& needs, profile::NamedStacks& names, std::vector<LoadedCapture>& captures,
                       std::vector<report::Run>& runs) {
  for (const std::string& path : paths) {
    QPERF_ASSIGN_OR_RETURN(LoadedCapture capture, load_capture({.path = path, .selection = selection}, needs, names));
    QPERF_ASSIGN_OR_RETURN(const double value, value_per_weight(capture, options, selection));
    runs.push_back(run_of(capture.profile, value));
    captures.push_back(std::move(capture));
  }
  return {};
}

/// What the format shows of each side beyond sums by function.
struct SideNeeds {
  LoadNeeds before;
  LoadNeeds after;
};

SideNeeds needs_of(const DiffOptions& options) {
  switch (options.format) {
    case DiffOutput::kTable:
    case DiffOutput::kJson:
    case DiffOutput::kFolded:
    case DiffOutput::kSvg: break;
    case DiffOutput::kPprof: {
      const LoadNeeds needs{.detail = analysis::Detail::kLines, .label_samples = true};
      return {needs, needs};
    }
    case DiffOutput::kHtml:
      if (options.after.size() > 1) break;  // several have no common timeline
      return {{}, {.order = analysis::Order::kBins, .timeline_if_events = true}};
  }
  return {};
}

}  // namespace

double quantity_of_one(const CaptureInput& input) noexcept {
  return static_cast<double>(analysis::weight_as_quantity(input, uint64_t{1} << 20)) / static_cast<double>(uint64_t{1} << 20);
}

analysis::Messages DiffInput::warnings() const {
  analysis::Messages all;
  const auto take = [&](const analysis::Messages& messages) { all.insert(all.end(), messages.begin(), messages.end()); };
  for (const auto* side : {&before_captures, &after_captures})
    for (const LoadedCapture& capture : *side) take(capture.warnings());
  const CaptureInput& first = before_captures.front().profile.input;
  for (const LoadedCapture& capture : after_captures) take(analysis::differences_between(first, capture.profile.input));
  const capture::Header& header = first.summary.header;
  const bool one_run = before.size() == 1 && after.size() == 1;
  if (one_run && !first.legacy && header.mode == guest::Mode::kIcount && header.jitter_percent == 0)
    all.push_back({analysis::Severity::kWarning,
                   "a fixed period has no error bound when the guest is periodic (docs/accuracy.md): the noise shown is that of random "
                   "sampling; record with jitter=, or give several runs"});
  return all;
}

ExitCode DiffInput::exit_code() const noexcept {
  for (const auto* side : {&before_captures, &after_captures})
    for (const LoadedCapture& capture : *side)
      if (capture.exit_code() != kDone) return kIncomplete;
  return kDone;
}

Result<DiffInput> load_diff(const DiffOptions& options) {
  DiffInput input;
  const SideNeeds needs = needs_of(options);
  QPERF_RETURN_IF_ERROR(
      load_side(options.before, options.before_selection, options, needs.before, input.names, input.before_captures, input.before));
  QPERF_RETURN_IF_ERROR(
      load_side(options.after, options.after_selection, options, needs.after, input.names, input.after_captures, input.after));
  const CaptureInput& first = input.before_captures.front().profile.input;
  for (const auto* side : {&input.before_captures, &input.after_captures})
    for (const LoadedCapture& capture : *side) QPERF_RETURN_IF_ERROR(check_comparable(first, capture.profile.input));
  input.unit = unit_of(first, options.normalize);
  return input;
}

}  // namespace qperf::tools
