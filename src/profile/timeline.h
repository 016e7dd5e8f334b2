#pragma once

#include <tsl/robin_map.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/keyed_hash.h"
#include "base/types.h"
#include "profile/ids.h"

namespace qperf::profile {

/// Consecutive samples of one vCPU in one stack.
struct Run {
  WallNs start_ns = 0;
  VcpuIndex vcpu;
  StackId stack;
  uint64_t weight = 0;
};

/// The order in which stacks were seen, for viewers that draw time. The one part of a profile that grows with samples, hence
/// the bound: beyond kMaxRuns it gives up, and the profile is shown by stack instead.
class Timeline {
 public:
  static constexpr size_t kMaxRuns = size_t{1} << 20;

  void add(WallNs start_ns, VcpuIndex vcpu, StackId stack, uint64_t weight);

  /// False once the bound was passed: runs() is empty then.
  [[nodiscard]] bool complete() const noexcept { return complete_; }
  /// One vCPU's runs are in the order of add(); different vCPUs are not in order of time.
  [[nodiscard]] std::span<const Run> runs() const noexcept { return runs_; }

  /// The same runs with other stack ids, joined where neighbours become equal.
  [[nodiscard]] Timeline renamed(const std::function<StackId(StackId)>& new_id) const;

  /// Runs of the vCPUs that `selects` picks, by time, joined where neighbours are equal.
  [[nodiscard]] std::vector<Run> ordered(const std::function<bool(VcpuIndex)>& selects) const;

 private:
  std::vector<Run> runs_;
  tsl::robin_map<uint64_t, size_t, KeyedHash> last_of_vcpu_;
  bool complete_ = true;
};

}  // namespace qperf::profile
