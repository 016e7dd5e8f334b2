#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "profile/frame_table.h"
#include "profile/ids.h"

namespace qperf::report {

/// Stacks joined at their common beginnings. A node's total is its self weight and its children's totals.
class CallTree {
 public:
  struct Node {
    profile::FrameId frame;
    uint32_t parent = 0;
    uint64_t self = 0;   // of paths that end here
    uint64_t total = 0;  // of paths that come through
  };
  /// Above all first frames; has no frame of its own.
  static constexpr uint32_t kRoot = 0;

  CallTree() : nodes_(1) {}

  /// Adds the weight of one path from the root on. Nodes grow with distinct paths.
  void add(std::span<const profile::FrameId> path, uint64_t weight);

  [[nodiscard]] const Node& operator[](uint32_t node) const noexcept { return nodes_[node]; }
  [[nodiscard]] size_t size() const noexcept { return nodes_.size(); }

  /// One line of a drawing: `hidden` weight stands for `hidden_nodes` children of `node` that are below the limit.
  struct Line {
    uint32_t node = 0;
    uint32_t depth = 0;  // 0: a child of the root
    uint32_t hidden_nodes = 0;
    uint64_t hidden_weight = 0;
  };
  /// Depth first, the heaviest child first (equal ones by name); only nodes of at least `least_weight`, each line of what is
  /// left out after the children that are shown. Every total is thus its self weight and the lines one deeper below it.
  [[nodiscard]] std::vector<Line> drawing(const profile::FrameTable& frames, uint64_t least_weight) const;

 private:
  std::vector<Node> nodes_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> child_;  // parent << 32 | frame
};

}  // namespace qperf::report
