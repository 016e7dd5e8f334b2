#include "analysis/units.h"

#include "capture/header_keys.h"
#include "profile/ids.h"

namespace qperf::analysis {

using profile::saturating_add;
using profile::saturating_multiply;

WeightUnit weight_unit(const CaptureInput& input) noexcept {
  if (input.legacy || capture::import_format(input.summary.metadata)) return WeightUnit::kSamples;
  switch (input.summary.header.mode) {
    case guest::Mode::kWall: return WeightUnit::kTicks;
    case guest::Mode::kIcount: return WeightUnit::kPeriods;
    case guest::Mode::kExact: return WeightUnit::kInstructions;
  }
  return WeightUnit::kSamples;
}

std::string_view unit_name(WeightUnit unit) noexcept {
  switch (unit) {
    case WeightUnit::kTicks: return "ticks";
    case WeightUnit::kPeriods: return "periods";
    case WeightUnit::kInstructions: return "instructions";
    case WeightUnit::kSamples: return "samples";
  }
  return "?";
}

uint64_t weight_as_quantity(const CaptureInput& input, uint64_t weight) noexcept {
  constexpr uint64_t kNsPerSecond = 1000000000;
  const capture::Header& header = input.summary.header;
  switch (weight_unit(input)) {
    case WeightUnit::kTicks: {
      if (header.freq_hz == 0 || header.freq_hz > kNsPerSecond) return weight;  // no recorder writes that
      const uint64_t whole_seconds = saturating_multiply(weight / header.freq_hz, kNsPerSecond);
      return saturating_add(whole_seconds, weight % header.freq_hz * kNsPerSecond / header.freq_hz);
    }
    case WeightUnit::kPeriods: return saturating_multiply(weight, header.period_insns);
    case WeightUnit::kInstructions:
    case WeightUnit::kSamples: return weight;
  }
  return weight;
}

}  // namespace qperf::analysis
