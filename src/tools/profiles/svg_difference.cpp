#include "tools/profiles/svg_difference.h"

#include <fmt/core.h>

#include "tools/profiles/matched_frames.h"
#include "tools/profiles/short_names.h"

namespace qperf::tools {
namespace {

using profile::FrameId;
using profile::NodeId;

/// Both sides' stacks in one tree.
class SharedTree {
 public:
  explicit SharedTree(const SvgSides& sides)
      : names_(sides.names), matched_(matched_frames(sides.names, sides.drawn)), node_of_(sides.names.stacks.size()) {
    for (const auto runs : {sides.before, sides.after})
      for (const report::Run& run : runs)
        for (const report::Row& row : run.rows) enter(row.stack);
  }

  /// By node, what stacks that end there weigh.
  [[nodiscard]] std::vector<uint64_t> self(std::span<const report::Row> rows) const {
    std::vector<uint64_t> self(tree_.size());
    for (const report::Row& row : rows) {
      uint64_t& weight = self[node_of_[row.stack.raw].raw];
      weight = profile::saturating_add(weight, row.weight);
    }
    return self;
  }

  [[nodiscard]] std::vector<report::KeyedRun> by_node(std::span<const report::Run> runs) const {
    std::vector<report::KeyedRun> keyed;
    for (const report::Run& run : runs) {
      const std::vector<uint64_t> own = self(run.rows);
      const std::vector<uint64_t> totals = tree_.totals(own);
      keyed.push_back({.self = std::vector<double>(own.begin(), own.end()),
                       .total = std::vector<double>(totals.begin(), totals.end()),
                       .sum = static_cast<double>(totals[0]),
                       .value_per_weight = run.value_per_weight,
                       .samples = run.samples});
    }
    return keyed;
  }

  [[nodiscard]] const profile::CallTree& tree() const noexcept { return tree_; }

 private:
  void enter(profile::StackId stack) {
    NodeId& node = node_of_[stack.raw];
    if (node.raw != 0) return;
    for (const FrameId frame : names_.stacks[stack]) node = tree_.child(node, matched_[frame.raw]);
  }

  const profile::NamedStacks& names_;
  std::vector<FrameId> matched_;
  std::vector<NodeId> node_of_;  // by stack
  profile::CallTree tree_;
};

exporter::SvgComparison comparison_of(const SharedTree& tree, const SvgSides& sides) {
  exporter::SvgComparison comparison{.unit = sides.value_unit, .before = std::string(sides.before_name), .what = "", .changes = {}};
  comparison.changes.resize(tree.tree().size());
  const report::Comparison compared = report::compare(tree.by_node(sides.before), tree.by_node(sides.after));
  const auto put = [&](uint32_t node, const report::Change& change) {
    comparison.changes[node] = {.before = change.before, .after = change.after, .noise = change.noise};
  };
  for (const report::FunctionChange& change : compared.functions) put(change.key, change.total);
  put(0, compared.all);
  return comparison;
}

std::string what_is_drawn(const SvgInput& input, const SvgSides& sides) {
  const bool shares = sides.value_unit == "%";
  return fmt::format("widths: {}; colours: by how much each frame and what it called changed since {}, {}",
                     with_more_runs(input.name, sides.after.size()), with_more_runs(sides.before_name, sides.before.size()),
                     shares ? "both sides' weights taken as 100 %" : "in " + sides.value_unit);
}

}  // namespace

void write_svg_difference(const SvgInput& input, const SvgSides& sides, exporter::TextSink& sink) {
  const SharedTree tree(sides);
  exporter::SvgPicture picture = svg_frame(input);
  picture.title += " against ";
  picture.title += sides.before_name;
  picture.unit = sides.drawn_unit;
  picture.stacks = sides.stacks;
  picture.self = tree.self(sides.drawn);
  picture.comparison = comparison_of(tree, sides);
  picture.comparison->what = what_is_drawn(input, sides);
  picture.tree = tree.tree();
  exporter::write_svg(sides.names.frames, picture, sink);
}

}  // namespace qperf::tools
