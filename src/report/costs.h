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

/// One for each key that has any weight, by key. The `self` of all add up to the weight of `rows`, but for empty stacks.
[[nodiscard]] std::vector<Cost> costs_by(const FrameKeys& keys, std::span<const Row> rows, const profile::NamedStacks& names);

/// Weight by group, groups without weight left out, by group.
struct GroupWeight {
  uint32_t group = 0;
  uint64_t weight = 0;
};
[[nodiscard]] std::vector<GroupWeight> weights_by_group(std::span<const Row> rows);

}  // namespace qperf::report
