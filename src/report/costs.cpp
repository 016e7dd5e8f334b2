#include "report/costs.h"

#include <algorithm>
#include <limits>
#include <map>
#include <string_view>
#include <unordered_map>

#include "base/keyed_hash.h"

namespace qperf::report {
namespace {

using profile::FrameId;
using profile::saturating_add;

constexpr size_t kNever = std::numeric_limits<size_t>::max();

FrameKeys keys_by(const profile::FrameTable& frames, const std::function<std::string(const profile::Frame&)>& name_of) {
  FrameKeys keys;
  std::unordered_map<std::string, uint32_t, KeyedHash> known;
  for (uint32_t i = 0; i < frames.size(); ++i) {
    std::string name = name_of(frames[FrameId{i}]);
    const auto [entry, added] = known.try_emplace(name, static_cast<uint32_t>(keys.names.size()));
    if (added) {
      keys.names.push_back(std::move(name));
      keys.first_frame.push_back(FrameId{i});
    }
    keys.of_frame.push_back(entry->second);
  }
  return keys;
}

}  // namespace

FrameKeys keys_by_function(const profile::FrameTable& frames) {
  std::unordered_map<std::string_view, uint32_t, KeyedHash> uses;
  for (uint32_t i = 0; i < frames.size(); ++i) ++uses[frames[FrameId{i}].name];
  return keys_by(frames, [&](const profile::Frame& frame) {
    if (uses[frame.name] < 2 || frame.file.empty()) return frame.name;
    return frame.name + " (" + frame.file + ')';
  });
}

FrameKeys keys_by_name(const profile::FrameTable& frames) {
  return keys_by(frames, [](const profile::Frame& frame) { return frame.name; });
}

FrameKeys keys_by_file(const profile::FrameTable& frames) {
  return keys_by(frames,
                 [](const profile::Frame& frame) { return frame.file.empty() ? std::string("[unknown file]") : frame.file; });
}

Cost& CostSums::cost_of(uint32_t key) {
  Slot& slot = slots_[key];
  if (slot.set != set_) {
    slot = {.cost = static_cast<uint32_t>(costs_.size()), .set = set_, .counted_in = kNever};
    costs_.push_back({.key = key});
  }
  return costs_[slot.cost];
}

std::span<const Cost> CostSums::of(std::span<const Row> rows) {
  slots_.resize(keys_.names.size());
  costs_.clear();
  ++set_;
  for (size_t i = 0; i < rows.size(); ++i) {
    const auto stack = names_.stacks[rows[i].stack];
    for (const FrameId frame : stack) {
      const uint32_t key = keys_.of_frame[frame.raw];
      Cost& cost = cost_of(key);
      if (slots_[key].counted_in == i) continue;
      slots_[key].counted_in = i;
      cost.total = saturating_add(cost.total, rows[i].weight);
    }
    if (stack.empty()) continue;
    uint64_t& self = cost_of(keys_.of_frame[stack.back().raw]).self;
    self = saturating_add(self, rows[i].weight);
  }
  looked_at_ += costs_.size();
  std::erase_if(costs_, [](const Cost& cost) { return cost.total == 0; });
  std::ranges::sort(costs_, {}, &Cost::key);
  return costs_;
}

std::vector<Cost> costs_by(const FrameKeys& keys, std::span<const Row> rows, const profile::NamedStacks& names) {
  CostSums sums(keys, names);
  const auto costs = sums.of(rows);
  return {costs.begin(), costs.end()};
}

std::vector<GroupWeight> weights_by_group(std::span<const Row> rows) {
  std::map<uint32_t, uint64_t> sums;
  for (const Row& row : rows) sums[row.group] = saturating_add(sums[row.group], row.weight);
  std::vector<GroupWeight> result;
  for (const auto& [group, weight] : sums)
    if (weight != 0) result.push_back({group, weight});
  return result;
}

}  // namespace qperf::report
