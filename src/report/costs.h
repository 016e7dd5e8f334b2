#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "profile/frame_table.h"
#include "report/row.h"

namespace qperf::report {

/// What frames are told apart by: each frame has one key, keys are dense from 0 and have names.
struct FrameKeys {
  std::vector<uint32_t> of_frame;  // by FrameId
  std::vector<std::string> names;  // by key
  std::vector<profile::FrameId> first_frame;  // by key
};

/// By function: names that several files have are followed by the file in brackets.
[[nodiscard]] FrameKeys keys_by_function(const profile::FrameTable& frames);
/// By frame as it is named.
[[nodiscard]] FrameKeys keys_by_name(const profile::FrameTable& frames);
/// By source file; "[unknown file]" where none is known.
[[nodiscard]] FrameKeys keys_by_file(const profile::FrameTable& frames);

/// The weight of one key: `self` where it is the leaf, `total` where it is anywhere in the stack, once however often it is there.
struct Cost {
  uint32_t key = 0;
  uint64_t self = 0;
  uint64_t total = 0;
};

/// Costs of one set of rows after another. Each looks at the keys of its own rows only: a capture may have as many groups as keys.
class CostSums {
 public:
  /// Both outlive it.
  CostSums(const FrameKeys& keys, const profile::NamedStacks& names) : keys_(keys), names_(names) {}

  /// One for each key that has any weight, by key; valid until the next call. The `self` of all add up to the weight of `rows`, but for
  /// empty stacks.
  std::span<const Cost> of(std::span<const Row> rows);
  /// How many costs were looked at in all, to test that.
  [[nodiscard]] uint64_t looked_at() const noexcept { return looked_at_; }

 private:
  struct Slot {
    uint32_t cost = 0;      // index into costs_
    uint64_t set = 0;       // of rows that it belongs to, from 1
    size_t counted_in = 0;  // the set's last row that added to the total
  };
  Cost& cost_of(uint32_t key);

  const FrameKeys& keys_;
  const profile::NamedStacks& names_;
  std::vector<Slot> slots_;  // by key
  uint64_t set_ = 0;
  std::vector<Cost> costs_;  // of the set
  uint64_t looked_at_ = 0;
};

/// The same of one set.
[[nodiscard]] std::vector<Cost> costs_by(const FrameKeys& keys, std::span<const Row> rows, const profile::NamedStacks& names);

/// Weight by group, groups without weight left out, by group.
struct GroupWeight {
  uint32_t group = 0;
  uint64_t weight = 0;
};
[[nodiscard]] std::vector<GroupWeight> weights_by_group(std::span<const Row> rows);

}  // namespace qperf::report
