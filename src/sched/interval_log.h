#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/types.h"
#include "sched/interval.h"
#include "sched/window.h"

namespace qperf::sched {

/// What an interval is drawn as: running on a vCPU, an entry of the off-CPU profile, or neither.
struct LoggedState {
  uint32_t raw = kUnknownRaw;

  static constexpr uint32_t kUnknownRaw = 0xffffffff;
  static constexpr uint32_t kRunningBit = 0x80000000;  // entries stay below: OffCpuProfile::kMaxEntries

  [[nodiscard]] static LoggedState running_on(VcpuIndex vcpu) noexcept { return {kRunningBit | (vcpu.raw & 0xffff)}; }
  [[nodiscard]] static LoggedState waiting(uint32_t entry) noexcept { return {entry}; }

  [[nodiscard]] bool is_running() const noexcept { return raw != kUnknownRaw && (raw & kRunningBit) != 0; }
  [[nodiscard]] bool is_waiting() const noexcept { return (raw & kRunningBit) == 0; }
  [[nodiscard]] VcpuIndex vcpu() const noexcept { return VcpuIndex{raw & 0xffff}; }
  [[nodiscard]] uint32_t entry() const noexcept { return raw; }
  friend constexpr auto operator<=>(LoggedState, LoggedState) = default;
};

/// What became of every task and vCPU over time, for views that draw it. Memory is bounded: where the rows become too many, those of one
/// task and state that begin close together are drawn as one, which keeps every sum and moves time by at most resolution_ns().
class IntervalLog {
 public:
  struct Row {
    WallNs from_ns = 0;
    uint64_t length_ns = 0;
    uint32_t owner = 0;  // TaskIndex, or for a halt VcpuIndex
    LoggedState state;
  };

  static constexpr size_t kMaxRows = size_t{1} << 22;

  /// Only what lies in `window` is kept, which outlives the log.
  explicit IntervalLog(const Window& window, size_t max_rows = kMaxRows) : window_(window), max_rows_(max_rows) {}

  /// `entry`: of the off-CPU profile, for an interval that is in it.
  void add(const Interval& interval, std::optional<uint32_t> entry);
  void halted(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns);

  /// Of tasks, and of halted vCPUs: in the order of their ends; joined ones stand where their first did.
  [[nodiscard]] std::span<const Row> tasks() const noexcept { return tasks_; }
  [[nodiscard]] std::span<const Row> halts() const noexcept { return halts_; }
  /// 0: every interval is as it was.
  [[nodiscard]] uint64_t resolution_ns() const noexcept { return resolution_ns_; }

  /// Joins rows of one owner and state that begin in the same stretch of `resolution_ns`.
  static void join(std::vector<Row>& rows, uint64_t resolution_ns);
  /// join() with longer stretches, `resolution_ns` doubled as often as it likely takes and then again, until at most `most` are left or
  /// nothing more can be joined. Returns the last one, 0 if the rows were few enough.
  static uint64_t join_until(std::vector<Row>& rows, size_t most, uint64_t resolution_ns);

 private:
  void keep(std::vector<Row>& rows, VcpuIndex vcpu, WallNs from_ns, WallNs to_ns, uint32_t owner, LoggedState state);
  void make_room();

  const Window& window_;
  size_t max_rows_;
  std::vector<Row> tasks_;
  std::vector<Row> halts_;
  uint64_t resolution_ns_ = 0;
};

}  // namespace qperf::sched
