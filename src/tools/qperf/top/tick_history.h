#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <vector>

#include "capture/records.h"

namespace qperf::tools {

/// Where the ticks of each vCPU went in the last seconds: ledgers are running totals, so that one from the begin of the window is set
/// against the newest. Memory: some seventy moments of the window, however many ledgers a capture has and whatever their order.
class TickHistory {
 public:
  explicit TickHistory(uint64_t window_ns) : window_ns_(window_ns) {}

  void note(const capture::Ledger& ledger);
  /// Keeps one moment from before `from`: the loads count from it.
  void forget_before(WallNs from);

  [[nodiscard]] const capture::Ledger& newest() const noexcept { return newest_; }
  /// Of a vCPU of the newest ledger, since the oldest moment; since the start if there is but one.
  [[nodiscard]] capture::Ticks ticks_of(const capture::VcpuLedger& vcpu) const noexcept;
  [[nodiscard]] size_t moments() const noexcept { return moments_.size(); }

 private:
  struct VcpuTicks {
    VcpuIndex vcpu;
    capture::Ticks ticks;
  };
  struct Moment {
    WallNs wall_ns = 0;
    std::vector<VcpuTicks> vcpus;
  };

  uint64_t window_ns_;
  capture::Ledger newest_;
  std::deque<Moment> moments_;  // ascending
};

}  // namespace qperf::tools
