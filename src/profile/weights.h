#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "profile/ids.h"

namespace qperf::profile {

/// What one vCPU spent in one stack. `weight`: ticks, periods or instructions, as the capture's mode says.
struct WeightRow {
  VcpuIndex vcpu;
  StackId stack;
  uint64_t weight = 0;
  uint64_t samples = 0;

  void add(uint64_t more_weight, uint64_t more_samples) noexcept {
    weight = saturating_add(weight, more_weight);
    samples = saturating_add(samples, more_samples);
  }
};

/// Weights by (vCPU, stack). Grows with distinct pairs, never with samples.
class WeightTable {
 public:
  /// Index of the pair's row, which is made if need be. Rows stay where they are.
  size_t row_of(VcpuIndex vcpu, StackId stack);
  /// Reference valid until the next row_of().
  [[nodiscard]] WeightRow& operator[](size_t row) noexcept { return rows_[row]; }
  /// Asks the processor for a row that is about to be used; any number will do.
  void prefetch(size_t row) const noexcept {
    if (row < rows_.size()) __builtin_prefetch(&rows_[row]);
  }
  /// In order of first sight.
  [[nodiscard]] std::span<const WeightRow> rows() const noexcept { return rows_; }

  [[nodiscard]] uint64_t total_weight() const noexcept;
  [[nodiscard]] uint64_t total_samples() const noexcept;
  /// vCPUs that have a row, ascending.
  [[nodiscard]] std::vector<VcpuIndex> vcpus() const;

 private:
  std::vector<WeightRow> rows_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> index_;  // vCPU << 32 | stack
};

}  // namespace qperf::profile
