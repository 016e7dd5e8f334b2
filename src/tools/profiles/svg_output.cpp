#include "tools/profiles/svg_output.h"

#include "analysis/report.h"
#include "base/printable.h"
#include "tools/profiles/off_cpu_output.h"
#include "tools/profiles/weight_words.h"

namespace qperf::tools {
namespace {

void add(exporter::SvgPicture& picture, std::span<const profile::FrameId> stack, uint64_t weight) {
  const profile::NodeId node = picture.tree.node_of(stack);
  picture.self.resize(picture.tree.size());
  uint64_t& self = picture.self[node.raw];
  self = profile::saturating_add(self, weight);
}

}  // namespace

exporter::SvgPicture svg_frame(const SvgInput& input) {
  exporter::SvgPicture picture;
  picture.title = input.name;
  picture.subtitle = analysis::headline(input.capture);
  const std::string path = printable(input.capture.path) + ": ";  // the title has the name
  if (picture.subtitle.starts_with(path)) picture.subtitle.erase(0, path.size());
  for (const auto& message : input.warnings) picture.notes.push_back("caution: " + message.text);
  picture.self.resize(1);
  return picture;
}

void write_svg_profile(const SvgInput& input, const profile::NamedStacks& names, const profile::WeightTable& weights,
                       exporter::SvgStacks stacks, exporter::TextSink& sink) {
  exporter::SvgPicture picture = svg_frame(input);
  picture.unit = weight_words(input.capture);
  picture.stacks = stacks;
  for (const auto& row : weights.rows()) add(picture, names.stacks[row.stack], row.weight);
  exporter::write_svg(names.frames, picture, sink);
}

void write_svg_off_cpu(const SvgInput& input, const analysis::SchedView& sched, exporter::TextSink& sink) {
  exporter::SvgPicture picture = svg_frame(input);
  picture.title += ": off-CPU time";
  picture.unit = {.name = "", .ns_per_weight = 1};
  picture.stacks = exporter::SvgStacks::kOffCpu;
  const OffCpuStacks off = off_cpu_stacks(sched);
  for (const auto& row : off.rows) add(picture, off.names.stacks[row.stack], row.count);
  exporter::write_svg(off.names.frames, picture, sink);
}

}  // namespace qperf::tools
