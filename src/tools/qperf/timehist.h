#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "sched/interval.h"

namespace qperf::tools {

/// One stay of a task on a vCPU, with what came before it.
struct TimehistRow {
  WallNs from_ns = 0;
  WallNs to_ns = 0;
  VcpuIndex vcpu;
  sched::TaskIndex task;
  sched::LabelId label;
  uint64_t blocked_ns = 0;   // since it last ran
  uint64_t runnable_ns = 0;  // and waited for a CPU
  bool has_reason = false;
  uint64_t reason = 0;  // of the last block before
  bool certain = true;
  sched::EndedBy ended_by = sched::EndedBy::kOther;
};

/// Collects them from the intervals of a replay. Memory: one row per switch, at most kMaxRows.
class Timehist final : public sched::IntervalSink {
 public:
  static constexpr size_t kMaxRows = size_t{1} << 22;

  void interval(const sched::Interval& interval) override;
  void halted(VcpuIndex, WallNs, WallNs) override {}
  void unknown_task(VcpuIndex, WallNs, WallNs) override {}
  void enqueued(VcpuIndex, WallNs, const sched::Enqueue&) override {}

  /// In order of their ends.
  [[nodiscard]] const std::vector<TimehistRow>& rows() const noexcept { return rows_; }
  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }

 private:
  std::vector<TimehistRow> rows_;
  std::vector<TimehistRow> next_;  // by task: what is known of its next stay
  uint64_t left_out_ = 0;
};

/// "preempted", "blocked": why a task left its vCPU.
[[nodiscard]] std::string_view departure_name(sched::EndedBy ended_by) noexcept;

}  // namespace qperf::tools
