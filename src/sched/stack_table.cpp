#include "sched/stack_table.h"

#include <algorithm>

namespace qperf::sched {

StackId StackTable::intern(std::span<const GuestVa> stack) {
  if (stack.empty()) return kNoStack;
  const uint64_t hash = keyed_hash(std::as_bytes(stack));
  const auto [slot, added] = first_by_hash_.try_emplace(hash, static_cast<uint32_t>(next_.size()));
  uint32_t last = kNoStack.raw;
  if (!added) {
    for (uint32_t id = slot->second; id != kNoStack.raw; id = next_[id]) {
      if (std::ranges::equal(frames(StackId{id}), stack)) return StackId{id};
      last = id;
    }
  }
  const StackId id{static_cast<uint32_t>(next_.size())};
  if (last != kNoStack.raw) next_[last] = id.raw;
  next_.push_back(kNoStack.raw);
  frames_.insert(frames_.end(), stack.begin(), stack.end());
  begins_.push_back(frames_.size());
  return id;
}

}  // namespace qperf::sched
