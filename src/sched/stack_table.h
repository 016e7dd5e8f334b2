#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "sched/interval.h"

namespace qperf::sched {

/// Interned stacks of return addresses, leaf first. Memory grows with the distinct ones.
class StackTable {
 public:
  StackId intern(std::span<const GuestVa> frames);
  [[nodiscard]] std::span<const GuestVa> frames(StackId id) const noexcept {
    if (id == kNoStack) return {};
    return std::span(frames_).subspan(begins_[id.raw], begins_[id.raw + 1] - begins_[id.raw]);
  }
  [[nodiscard]] size_t size() const noexcept { return begins_.size() - 1; }

 private:
  std::vector<GuestVa> frames_;
  std::vector<size_t> begins_{0};
  // By hash of the frames; equal hashes of different stacks are chained through next_.
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> first_by_hash_;
  std::vector<uint32_t> next_;
};

}  // namespace qperf::sched
