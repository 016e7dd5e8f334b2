#include "tools/profiles/weight_words.h"

#include "analysis/units.h"

namespace qperf::tools {

using analysis::WeightUnit;

exporter::Unit weight_words(const analysis::CaptureInput& input) {
  exporter::Unit unit{.name = std::string(analysis::unit_name(analysis::weight_unit(input)))};
  const capture::Header& header = input.summary.header;
  if (analysis::weight_unit(input) == WeightUnit::kSamples) return unit;  // what time lies between them is not known
  if (header.mode == guest::Mode::kWall && header.freq_hz != 0) unit.ns_per_weight = 1e9 / static_cast<double>(header.freq_hz);
  if (header.mode == guest::Mode::kIcount) unit.insns_per_weight = header.period_insns;
  return unit;
}

exporter::Unit quantity_words(const analysis::CaptureInput& input) {
  switch (analysis::weight_unit(input)) {
    case WeightUnit::kTicks: return {.name = "", .ns_per_weight = 1};
    case WeightUnit::kPeriods:
    case WeightUnit::kInstructions: return {.name = "instructions"};
    case WeightUnit::kSamples: break;
  }
  return {.name = "samples"};
}

uint64_t rate_of(const analysis::CaptureInput& input) noexcept {
  if (input.legacy) return 0;
  const capture::Header& header = input.summary.header;
  return header.mode == guest::Mode::kWall ? header.freq_hz : header.period_insns;
}

}  // namespace qperf::tools
