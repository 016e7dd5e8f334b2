#include "tools/qperf/diff_input.h"

#include <fmt/core.h>

#include <algorithm>
#include <optional>

#include "analysis/units.h"
#include "tools/qperf/report_input.h"

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
  if (first.legacy || first.summary.header.mode == other.summary.header.mode) return {};
  return usage(fmt::format("{} was recorded with mode={}, {} with mode={}: only recordings of one mode can be compared", first.path,
                           guest::mode_name(first.summary.header.mode), other.path, guest::mode_name(other.summary.header.mode)));
}

/// Nanoseconds of a tick, instructions of a period.
double quantity_of_one(const CaptureInput& input) {
  return static_cast<double>(analysis::weight_as_quantity(input, uint64_t{1} << 20)) / static_cast<double>(uint64_t{1} << 20);
}

bool is_wall(const CaptureInput& input) { return analysis::weight_unit(input) == WeightUnit::kTicks; }

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
  const double quantity = quantity_of_one(input);
  switch (options.normalize) {
    case Normalize::kTotal: {
      const auto weight = static_cast<double>(capture.profile.weights.total_weight());
      return weight > 0 ? 100 / weight : 0;
    }
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

/// Exact counts have no sampling error. The rows of folded stacks are sums: their weights are the samples.
uint64_t samples_of(const analysis::CaptureProfile& profile) {
  switch (analysis::weight_unit(profile.input)) {
    case WeightUnit::kInstructions: return 0;
    case WeightUnit::kSamples: return profile.tally.weight;
    case WeightUnit::kTicks:
    case WeightUnit::kPeriods: break;
  }
  return profile.tally.samples;
}

Result<void> load_side(const std::vector<std::string>& paths, const SelectionText& selection, const DiffOptions& options,
                       profile::NamedStacks& names, std::vector<LoadedCapture>& captures, std::vector<report::Run>& runs) {
  for (const std::string& path : paths) {
    QPERF_ASSIGN_OR_RETURN(LoadedCapture capture, load_capture({.path = path, .selection = selection}, {}, names));
    report::Run run;
    run.rows = rows_of(capture.profile);
    QPERF_ASSIGN_OR_RETURN(run.value_per_weight, value_per_weight(capture, options, selection));
    run.samples = samples_of(capture.profile);
    captures.push_back(std::move(capture));
    runs.push_back(std::move(run));
  }
  return {};
}

}  // namespace

Result<DiffInput> load_diff(const DiffOptions& options) {
  DiffInput input;
  QPERF_RETURN_IF_ERROR(load_side(options.before, options.before_selection, options, input.names, input.before_captures, input.before));
  QPERF_RETURN_IF_ERROR(load_side(options.after, options.after_selection, options, input.names, input.after_captures, input.after));
  const CaptureInput& first = input.before_captures.front().profile.input;
  for (const auto* side : {&input.before_captures, &input.after_captures})
    for (const LoadedCapture& capture : *side) QPERF_RETURN_IF_ERROR(check_comparable(first, capture.profile.input));
  input.unit = unit_of(first, options.normalize);
  return input;
}

}  // namespace qperf::tools
