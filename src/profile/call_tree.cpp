#include "profile/call_tree.h"

#include <algorithm>
#include <functional>

namespace qperf::profile {

NodeId CallTree::child(NodeId parent, FrameId frame) {
  const uint64_t key = (uint64_t{parent.raw} << 32) | frame.raw;
  const auto [position, added] = children_.try_emplace(key, static_cast<uint32_t>(nodes_.size()));
  if (added) nodes_.push_back({.parent = parent, .frame = frame});
  return NodeId{position->second};
}

NodeId CallTree::node_of(std::span<const FrameId> stack) {
  NodeId node;
  for (const FrameId frame : stack) node = child(node, frame);
  return node;
}

std::vector<uint64_t> CallTree::totals(std::span<const uint64_t> self) const {
  std::vector<uint64_t> totals(self.begin(), self.end());
  totals.resize(nodes_.size());
  for (size_t node = nodes_.size() - 1; node > 0; --node) {
    uint64_t& above = totals[nodes_[node].parent.raw];
    above = saturating_add(above, totals[node]);
  }
  return totals;
}

PrunedTree prune(const CallTree& tree, std::span<const uint64_t> totals, size_t most, FrameId rest) {
  // A child never weighs more than its parent, so that what is above the bound hangs together.
  uint64_t bound = 0;
  if (tree.size() > most) {
    std::vector<uint64_t> sorted(totals.begin(), totals.end());
    std::ranges::nth_element(sorted, sorted.begin() + static_cast<std::ptrdiff_t>(most), std::greater<>{});
    bound = sorted[most];
  }
  PrunedTree result;
  result.now.resize(tree.size());
  const auto nodes = tree.nodes();
  std::vector<bool> kept(tree.size(), false);
  kept[0] = true;
  for (uint32_t id = 1; id < nodes.size(); ++id) {
    const uint32_t parent = nodes[id].parent.raw;
    kept[id] = kept[parent] && (tree.size() <= most || totals[id] > bound);
    if (kept[id])
      result.now[id] = result.tree.child(result.now[parent], nodes[id].frame);
    else
      result.now[id] = kept[parent] ? result.tree.child(result.now[parent], rest) : result.now[parent];
    result.cut += kept[id] ? 0 : 1;
  }
  return result;
}

}  // namespace qperf::profile
