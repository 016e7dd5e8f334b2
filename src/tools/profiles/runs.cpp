#include "tools/profiles/runs.h"

#include "analysis/units.h"

namespace qperf::tools {
namespace {

using analysis::WeightUnit;

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

}  // namespace

std::vector<report::Row> rows_of(const analysis::CaptureProfile& profile) {
  std::vector<report::Row> rows;
  for (const auto& row : profile.weights.rows()) rows.push_back({.group = 0, .stack = row.stack, .weight = row.weight});
  return rows;
}

report::Run run_of(const analysis::CaptureProfile& profile, double value_per_weight) {
  return {.rows = rows_of(profile), .value_per_weight = value_per_weight, .samples = samples_of(profile)};
}

double percent_per_weight(const analysis::CaptureProfile& profile) noexcept {
  const auto weight = static_cast<double>(profile.weights.total_weight());
  return weight > 0 ? 100 / weight : 0;
}

}  // namespace qperf::tools
