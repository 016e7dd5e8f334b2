#include "tools/profiles/folded_output.h"

#include <fmt/core.h>

#include <vector>

#include "analysis/units.h"
#include "export/folded.h"
#include "profile/difference.h"

namespace qperf::tools {

void write_folded_part(const Profiles& profiles, Part part, RootFrames roots, exporter::TextSink& sink) {
  const bool two = profiles.baseline != nullptr;
  const bool as_quantity = profiles.different_rates();
  const auto count = [&](const analysis::CaptureProfile& side, uint64_t weight) {
    return as_quantity ? analysis::weight_as_quantity(side.input, weight) : weight;
  };
  const profile::WeightTable nothing;
  const auto changes =
      profile::difference(two ? profiles.baseline->weights : nothing, profiles.current.weights, profile::ByVcpu::kApart);
  std::vector<exporter::FoldedRow> rows;
  for (const profile::Change& change : changes) {
    if (part && change.vcpu != part) continue;
    exporter::FoldedRow row{.root = std::nullopt, .stack = change.stack, .count = change.after, .count2 = 0};
    if (two) {
      row.count = count(*profiles.baseline, change.before);
      row.count2 = count(profiles.current, change.after);
    }
    if (roots == RootFrames::kByVcpu)
      row.root = profiles.names.frames.intern({.name = fmt::format("cpu{}", change.vcpu->raw), .file = "", .line = 0});
    rows.push_back(row);
  }
  exporter::write_folded(profiles.names, rows, two ? exporter::FoldedCounts::kTwo : exporter::FoldedCounts::kOne, sink);
}

}  // namespace qperf::tools
