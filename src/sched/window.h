#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"

namespace qperf::sched {

/// Wall time [from_ns, to_ns).
struct TimeSpan {
  WallNs from_ns = 0;
  WallNs to_ns = 0;
  friend bool operator==(const TimeSpan&, const TimeSpan&) = default;
};

/// Ascending disjoint spans that answer how much of an interval they hold, in O(log spans).
class SpanSet {
 public:
  /// All of time.
  SpanSet() : SpanSet({TimeSpan{0, UINT64_MAX}}) {}
  /// Spans in any order; overlapping ones are united, empty ones dropped.
  explicit SpanSet(std::vector<TimeSpan> spans);

  [[nodiscard]] uint64_t overlap_ns(WallNs from_ns, WallNs to_ns) const noexcept;
  [[nodiscard]] bool contains(WallNs at_ns) const noexcept;
  [[nodiscard]] std::span<const TimeSpan> spans() const noexcept { return spans_; }
  [[nodiscard]] SpanSet intersect(TimeSpan other) const;

 private:
  [[nodiscard]] uint64_t before(WallNs at_ns) const noexcept;

  std::vector<TimeSpan> spans_;
  std::vector<uint64_t> held_before_;  // ns in all spans before spans_[i]
};

/// What of a capture is looked at: samples, events and intervals are cut by the same one. With a window of instructions each
/// vCPU has its own span of wall time, the one in which its instruction count lay in the window.
class Window {
 public:
  Window() = default;
  explicit Window(SpanSet everywhere) : everywhere_(std::move(everywhere)) {}
  /// `of_vcpu[i]` for vCPU i; vCPUs behind the end have `everywhere`.
  Window(SpanSet everywhere, std::vector<SpanSet> of_vcpu) : everywhere_(std::move(everywhere)), of_vcpu_(std::move(of_vcpu)) {}

  /// Nothing of vCPU i is looked at.
  void leave_out(VcpuIndex vcpu) {
    if (vcpu.raw >= of_vcpu_.size()) of_vcpu_.resize(vcpu.raw + size_t{1}, everywhere_);
    of_vcpu_[vcpu.raw] = SpanSet(std::vector<TimeSpan>());
  }

  [[nodiscard]] const SpanSet& of(VcpuIndex vcpu) const noexcept {
    return vcpu.raw < of_vcpu_.size() ? of_vcpu_[vcpu.raw] : everywhere_;
  }
  [[nodiscard]] uint64_t overlap_ns(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) const noexcept {
    return of(vcpu).overlap_ns(from_ns, to_ns);
  }
  [[nodiscard]] bool contains(VcpuIndex vcpu, WallNs at_ns) const noexcept { return of(vcpu).contains(at_ns); }

 private:
  SpanSet everywhere_;
  std::vector<SpanSet> of_vcpu_;
};

}  // namespace qperf::sched
