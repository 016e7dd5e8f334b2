#include "export/svg_layout.h"

#include <algorithm>
#include <tuple>

namespace qperf::exporter {
namespace {

using profile::CallTree;
using profile::NodeId;

/// The children of each node in one array, those of a node side by side and by name.
class Children {
 public:
  Children(const CallTree& tree, const profile::FrameTable& frames) : starts_(tree.size() + 1) {
    const auto nodes = tree.nodes();
    for (size_t i = 1; i < nodes.size(); ++i) ++starts_[nodes[i].parent.raw + 1];
    for (size_t i = 1; i < starts_.size(); ++i) starts_[i] += starts_[i - 1];
    std::vector<uint32_t> next = starts_;
    children_.resize(nodes.size() - 1);
    for (uint32_t i = 1; i < nodes.size(); ++i) children_[next[nodes[i].parent.raw]++] = NodeId{i};
    const auto name = [&](NodeId node) {
      const profile::Frame& frame = frames[nodes[node.raw].frame];
      return std::tuple<std::string_view, std::string_view>(frame.name, frame.file);
    };
    for (size_t i = 0; i + 1 < starts_.size(); ++i)
      std::sort(children_.begin() + starts_[i], children_.begin() + starts_[i + 1], [&](NodeId a, NodeId b) { return name(a) < name(b); });
  }

  [[nodiscard]] std::span<const NodeId> of(NodeId node) const noexcept {
    return std::span(children_).subspan(starts_[node.raw], starts_[node.raw + 1] - starts_[node.raw]);
  }

 private:
  std::vector<uint32_t> starts_;
  std::vector<NodeId> children_;
};

/// False: there would be more than `limits.boxes`.
bool place(const Children& children, std::span<const uint64_t> totals, const SvgLimits& limits, SvgLayout& layout) {
  const double pixels_per_weight = totals[0] == 0 ? 0 : limits.width_pixels / static_cast<double>(totals[0]);
  std::vector<SvgBox> open{{.node = NodeId{}, .depth = 0, .from = 0, .weight = totals[0]}};
  layout.boxes.clear();
  layout.rows = 1;
  layout.rows_cut = false;
  while (!open.empty()) {
    const SvgBox box = open.back();
    open.pop_back();
    if (layout.boxes.size() == limits.boxes) return false;
    layout.boxes.push_back(box);
    layout.rows = std::max(layout.rows, box.depth + 1);
    if (box.depth + 1 == limits.rows) {
      layout.rows_cut = layout.rows_cut || !children.of(box.node).empty();
      continue;
    }
    const size_t first = open.size();
    uint64_t from = box.from;
    for (const NodeId child : children.of(box.node)) {
      const uint64_t weight = totals[child.raw];
      if (weight != 0 && static_cast<double>(weight) * pixels_per_weight >= layout.least_pixels)
        open.push_back({.node = child, .depth = box.depth + 1, .from = from, .weight = weight});
      from = profile::saturating_add(from, weight);
    }
    std::reverse(open.begin() + static_cast<std::ptrdiff_t>(first), open.end());
  }
  return true;
}

}  // namespace

SvgLayout svg_layout(const CallTree& tree, const profile::FrameTable& frames, std::span<const uint64_t> totals, const SvgLimits& limits) {
  const Children children(tree, frames);
  SvgLayout layout;
  layout.least_pixels = limits.least_pixels;
  while (!place(children, totals, limits, layout) && layout.least_pixels < limits.width_pixels) layout.least_pixels *= 2;
  const auto weighty = static_cast<uint64_t>(std::ranges::count_if(totals.subspan(1), [](uint64_t total) { return total != 0; }));
  layout.left_out = weighty - (layout.boxes.size() - 1);
  return layout;
}

}  // namespace qperf::exporter
