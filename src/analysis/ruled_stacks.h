#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/collector.h"
#include "analysis/image_set.h"
#include "analysis/lookups.h"
#include "analysis/stack_rules.h"
#include "base/types.h"
#include "capture/records.h"
#include "profile/ids.h"
#include "profile/sequence_table.h"

namespace qperf::analysis {

/// The stacks of a Collector after the rules: lookups that wait for their names. The rules see era and site alone, so that sites
/// which many roots share are looked at once.
class RuledStacks {
 public:
  RuledStacks(const Collector& collector, const ImageSet& images, GuestRange kernel_range);

  /// What the rules made of one era's site; what of the recorder's notes on the walk is still wanted stands beside it.
  struct Walk {
    profile::StackId body;
    capture::StopReason stop{};
    StackRules::Outcome outcome;
  };
  /// A distinct stack: a root and what lies above it.
  struct Stack {
    uint32_t root = kNoRoot;  // SampleView's
    profile::StackId body;
  };

  [[nodiscard]] const LookupTable& lookups() const noexcept { return lookups_; }
  /// By raw stack.
  [[nodiscard]] const Walk& walk(profile::StackId raw) const { return walks_[walk_of_raw_[raw.raw]]; }
  [[nodiscard]] profile::StackId ruled(profile::StackId raw) const { return ruled_of_raw_[raw.raw]; }
  [[nodiscard]] size_t raw_stacks() const noexcept { return ruled_of_raw_.size(); }

  [[nodiscard]] size_t stacks() const noexcept { return stacks_.size(); }
  [[nodiscard]] Stack stack(profile::StackId ruled) const { return {.root = stacks_[ruled][0], .body = profile::StackId{stacks_[ruled][1]}}; }
  [[nodiscard]] size_t bodies() const noexcept { return bodies_.size(); }
  /// LookupIds, leaf first.
  [[nodiscard]] std::span<const uint32_t> body(profile::StackId body) const { return bodies_[body]; }

 private:
  LookupTable lookups_;
  profile::SequenceTable<uint32_t> bodies_;
  profile::SequenceTable<uint32_t> stacks_;  // root, body
  std::vector<Walk> walks_;
  std::vector<uint32_t> walk_of_raw_;
  std::vector<profile::StackId> ruled_of_raw_;
};

}  // namespace qperf::analysis
