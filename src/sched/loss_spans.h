#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <vector>

#include "base/types.h"

namespace qperf::sched {

/// Spans of wall time in which events of a vCPU were lost: from the last event before the loss to the first one behind it.
/// Bounded: beyond kMaxSpans per vCPU the last span grows instead, which only makes more intervals uncertain.
class LossSpans {
 public:
  /// Spans of one vCPU are added in ascending order.
  void add(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns);
  /// Call once, after the last add and before the first question.
  void seal();

  /// True if an event of any vCPU that was lost could lie inside [from_ns, to_ns).
  [[nodiscard]] bool touches(WallNs from_ns, WallNs to_ns) const noexcept;
  /// The same for one vCPU's events.
  [[nodiscard]] bool touches(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) const noexcept;
  [[nodiscard]] bool empty() const noexcept { return of_vcpu_.empty(); }

  struct Span {
    WallNs from_ns;
    WallNs to_ns;  // UINT64_MAX: to the end
  };
  /// Ascending and disjoint.
  [[nodiscard]] const std::map<VcpuIndex, std::vector<Span>>& by_vcpu() const noexcept { return of_vcpu_; }

  static constexpr size_t kMaxSpans = size_t{1} << 16;

 private:
  static bool any_touches(const std::vector<Span>& spans, WallNs from_ns, WallNs to_ns) noexcept;
  static void append(std::vector<Span>& spans, Span span);

  std::map<VcpuIndex, std::vector<Span>> of_vcpu_;
  std::vector<Span> all_;  // the union, ascending, disjoint
};

}  // namespace qperf::sched
