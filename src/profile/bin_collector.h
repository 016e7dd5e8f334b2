#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/types.h"
#include "profile/binned_weights.h"
#include "profile/ids.h"

namespace qperf::profile {

/// Sums samples by (time bin, pair), a pair being a row of a WeightTable: (vCPU, stack). Memory grows with distinct pairs, never with
/// samples: where the sums become too many, bins get twice as long and sums that fall together are added up.
class BinCollector {
 public:
  static constexpr size_t kMaxSums = size_t{1} << 20;

  /// `end_ns`: where the capture is thought to end, so that there will be at most BinnedWeights::kBins bins; 0: not known.
  explicit BinCollector(WallNs end_ns = 0, size_t max_sums = kMaxSums);

  /// Any order will do; where the samples of a pair ascend in time, each of its bins is one sum.
  void add(WallNs at_ns, uint32_t pair, uint64_t weight);
  /// Asks the processor for a pair that is about to be added to; any number will do.
  void prefetch(uint32_t pair) const noexcept {
    if (pair < latest_.size()) __builtin_prefetch(&latest_[pair]);
  }

  struct Cell {
    VcpuIndex vcpu;
    uint32_t group = 0;
    StackId stack;
  };
  [[nodiscard]] BinnedWeights binned(const std::function<Cell(uint32_t pair)>& cell_of) const;

  [[nodiscard]] size_t sums() const noexcept { return sums_.size(); }

 private:
  struct Sum {
    uint32_t bin = 0;
    uint32_t pair = 0;
    uint64_t weight = 0;
  };
  /// The pair's latest sum: most samples of a pair lie in the bin of the one before.
  struct Latest {
    uint32_t bin = 0;
    uint32_t sum_plus_1 = 0;  // 0: none
  };

  /// Adds up what falls together in bins that are 2^shift times as long.
  void merge(unsigned shift);
  void make_room();

  size_t max_sums_;
  unsigned bin_bits_;
  std::vector<Sum> sums_;       // in the order of first sight
  std::vector<Latest> latest_;  // by pair
  bool in_order_ = true;        // each pair's sums ascend in time: equal bins of it are neighbours among them
};

}  // namespace qperf::profile
