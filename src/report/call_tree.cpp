#include "report/call_tree.h"

#include <algorithm>
#include <numeric>
#include <tuple>

namespace qperf::report {

using profile::saturating_add;

void CallTree::add(std::span<const profile::FrameId> path, uint64_t weight) {
  uint32_t node = kRoot;
  nodes_[node].total = saturating_add(nodes_[node].total, weight);
  for (const profile::FrameId frame : path) {
    const uint64_t key = (uint64_t{node} << 32) | frame.raw;
    const auto [entry, added] = child_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
    if (added) nodes_.push_back({.frame = frame, .parent = node, .self = 0, .total = 0});
    node = entry->second;
    nodes_[node].total = saturating_add(nodes_[node].total, weight);
  }
  nodes_[node].self = saturating_add(nodes_[node].self, weight);
}

namespace {

/// The children of each node in one array, in the order in which they are drawn.
struct Children {
  std::vector<uint32_t> order;  // nodes by parent
  std::vector<size_t> begin;    // by node, one more at the end

  Children(const CallTree& tree, const profile::FrameTable& frames) : order(tree.size() - 1), begin(tree.size() + 1, 0) {
    std::iota(order.begin(), order.end(), 1U);
    const auto less = [&](uint32_t a, uint32_t b) {
      const auto& one = tree[a];
      const auto& two = tree[b];
      if (one.parent != two.parent) return one.parent < two.parent;
      if (one.total != two.total) return one.total > two.total;
      const profile::Frame& frame = frames[one.frame];
      const profile::Frame& other = frames[two.frame];
      return std::tie(frame.name, frame.file, a) < std::tie(other.name, other.file, b);
    };
    std::ranges::sort(order, less);
    for (const uint32_t node : order) ++begin[tree[node].parent + 1];
    std::partial_sum(begin.begin(), begin.end(), begin.begin());
  }

  [[nodiscard]] std::span<const uint32_t> of(uint32_t node) const noexcept {
    return std::span(order).subspan(begin[node], begin[node + 1] - begin[node]);
  }
};

}  // namespace

std::vector<CallTree::Line> CallTree::drawing(const profile::FrameTable& frames, uint64_t least_weight) const {
  const Children children(*this, frames);
  std::vector<Line> lines;
  std::vector<Line> pending;  // a stack of lines yet to be drawn
  const auto push_children = [&](uint32_t parent, uint32_t depth) {
    const auto all = children.of(parent);
    const auto shown = static_cast<size_t>(
        std::ranges::partition_point(all, [&](uint32_t node) { return nodes_[node].total >= least_weight; }) - all.begin());
    Line rest{.node = parent, .depth = depth, .hidden_nodes = static_cast<uint32_t>(all.size() - shown), .hidden_weight = 0};
    for (const uint32_t node : all.subspan(shown)) rest.hidden_weight = saturating_add(rest.hidden_weight, nodes_[node].total);
    if (rest.hidden_nodes != 0) pending.push_back(rest);
    for (size_t i = shown; i-- > 0;) pending.push_back({.node = all[i], .depth = depth, .hidden_nodes = 0, .hidden_weight = 0});
  };
  push_children(kRoot, 0);
  while (!pending.empty()) {
    const Line line = pending.back();
    pending.pop_back();
    lines.push_back(line);
    if (line.hidden_nodes == 0) push_children(line.node, line.depth + 1);
  }
  return lines;
}

}  // namespace qperf::report
