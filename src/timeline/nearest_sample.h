#pragma once

#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "base/types.h"

namespace qperf::timeline {

/// The samples of each vCPU by time, to find the one nearest to a moment. 16 bytes a sample.
class NearestSample {
 public:
  /// `what`: any number that the caller knows the sample by. Any order.
  void add(VcpuIndex vcpu, WallNs at_ns, uint32_t what);
  /// After the last add().
  void seal();
  struct Found {
    uint32_t what = 0;
    uint64_t distance_ns = 0;
  };
  /// nullopt: none within `bound_ns` on this vCPU. Of two equally far ones the earlier.
  [[nodiscard]] std::optional<Found> find(uint64_t vcpu, int64_t at_ns, uint64_t bound_ns) const noexcept;

  static constexpr uint32_t kMaxVcpus = 4096;

 private:
  std::vector<std::vector<std::pair<int64_t, uint32_t>>> of_vcpu_;
};

}  // namespace qperf::timeline
