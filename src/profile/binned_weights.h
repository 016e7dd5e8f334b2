#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "profile/ids.h"

namespace qperf::profile {

/// Weights by (time bin, vCPU, group, stack), for views that follow a span of time. BinCollector makes them of samples.
class BinnedWeights {
 public:
  struct Row {
    uint32_t bin = 0;  // holds [bin * bin_ns(), (bin + 1) * bin_ns())
    VcpuIndex vcpu;
    uint32_t group = 0;  // what else tells weights of one stack apart
    StackId stack;
    uint64_t weight = 0;
  };

  static constexpr uint32_t kBins = 2048;
  static constexpr unsigned kMostBinBits = 63;

  BinnedWeights() = default;
  /// `rows` in any order, bins of 2^bin_bits ns: equal rows are added up, and bins made longer until there are at most kBins.
  BinnedWeights(unsigned bin_bits, std::vector<Row> rows);

  /// Makes bins longer until at most `rows` are left, or one bin.
  void fit(size_t rows);

  /// Makes bins at least so long.
  void widen(uint64_t bin_ns);

  /// Sorted by (bin, vCPU, group, stack), each once.
  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }
  [[nodiscard]] uint64_t bin_ns() const noexcept { return uint64_t{1} << bin_bits_; }

 private:
  void halve_bins();

  unsigned bin_bits_ = 0;
  std::vector<Row> rows_;
};

}  // namespace qperf::profile
