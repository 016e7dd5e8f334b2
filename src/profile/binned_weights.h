#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "base/types.h"
#include "profile/ids.h"

namespace qperf::profile {

/// Weights by (time bin, vCPU, stack), for views that follow a span of time. Memory is bounded however long the capture
/// is: where the rows become too many, bins get twice as long and rows that fall together are added up.
class BinnedWeights {
 public:
  struct Row {
    uint32_t bin = 0;  // holds [bin * bin_ns(), (bin + 1) * bin_ns())
    VcpuIndex vcpu;
    uint32_t group = 0;  // sorted() sets it: what the stacks' new ids no longer tell
    StackId stack;
    uint64_t weight = 0;
  };

  static constexpr size_t kMaxRows = size_t{1} << 20;
  static constexpr uint32_t kBins = 2048;

  BinnedWeights() = default;
  /// `end_ns`: where the capture is thought to end, so that there will be at most kBins bins; 0: not known.
  explicit BinnedWeights(WallNs end_ns, size_t max_rows = kMaxRows);

  /// One vCPU's samples are best added in the order of time: each cell of (vCPU, bin) is then found at once.
  void add(WallNs at_ns, VcpuIndex vcpu, StackId stack, uint64_t weight);

  /// What the rows are after all is added: with other stack ids and their groups, sorted by (bin, vCPU, group, stack), each once, at
  /// most kBins bins.
  [[nodiscard]] BinnedWeights sorted(const std::function<std::pair<StackId, uint32_t>(StackId)>& new_id) const;
  /// Makes bins longer until at most `rows` are left, or one bin.
  void fit(size_t rows);

  [[nodiscard]] std::span<const Row> rows() const noexcept { return rows_; }
  [[nodiscard]] uint64_t bin_ns() const noexcept { return uint64_t{1} << bin_bits_; }

 private:
  /// The bin that a vCPU's latest sample lies in: where its rows are.
  struct Cell {
    uint64_t bin = ~uint64_t{0};
    tsl::robin_map<uint64_t, uint32_t, MixedHash> rows;  // by stack
  };

  void merge();
  void halve_bins();
  void make_room();

  size_t max_rows_ = kMaxRows;
  unsigned bin_bits_ = kLeastBinBits;
  std::vector<Row> rows_;
  std::vector<Cell> cells_;  // by vCPU

  static constexpr unsigned kLeastBinBits = 10;
};

}  // namespace qperf::profile
