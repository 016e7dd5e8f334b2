#pragma once

#include <cstddef>
#include <cstdint>

namespace qperf::sched {

/// Of two small numbers in one word: the tables take the low bits, and neighbouring numbers are the common case.
struct PairHash {
  size_t operator()(uint64_t pair) const noexcept { return static_cast<size_t>((pair * 0x9e3779b97f4a7c15) >> 16); }
};

}  // namespace qperf::sched
