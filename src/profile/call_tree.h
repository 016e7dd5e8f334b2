#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "profile/ids.h"

namespace qperf::profile {

/// A place in a CallTree; 0 is the root above all stacks.
struct NodeId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(NodeId, NodeId) = default;
};

/// Stacks as a tree: stacks that begin alike share nodes. A parent stands before its children.
class CallTree {
 public:
  struct Node {
    NodeId parent;
    FrameId frame;  // of no meaning at the root
  };

  /// The node of a stack (root first), which is made with those above it if need be.
  NodeId node_of(std::span<const FrameId> stack);
  NodeId child(NodeId parent, FrameId frame);

  [[nodiscard]] std::span<const Node> nodes() const noexcept { return nodes_; }
  [[nodiscard]] size_t size() const noexcept { return nodes_.size(); }

  /// What each node and all below it weigh; `self` by node.
  [[nodiscard]] std::vector<uint64_t> totals(std::span<const uint64_t> self) const;

 private:
  std::vector<Node> nodes_ = std::vector<Node>(1);
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> children_;  // parent << 32 | frame
};

/// A tree cut to its heaviest nodes.
struct PrunedTree {
  CallTree tree;
  std::vector<NodeId> now;  // where each node of the whole tree went
  size_t cut = 0;           // nodes that are not in the tree: each went to a child `rest` of its nearest kept ancestor
};

/// At most `most` nodes of `tree`, the heaviest by `totals`, besides those of the frame `rest`. Equal weights are cut together.
[[nodiscard]] PrunedTree prune(const CallTree& tree, std::span<const uint64_t> totals, size_t most, FrameId rest);

}  // namespace qperf::profile
