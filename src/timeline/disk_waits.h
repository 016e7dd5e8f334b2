#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace qperf::timeline {

/// One time that a task did not run because of a disk: blocked with reason virtio-blk read or write, then waiting for a CPU.
struct DiskWait {
  TaskId task;
  std::string task_label;     // printable
  uint64_t sequence = 0;      // of the block event
  bool is_write = false;      // by the reason: what a flush counts as is the guest's choice
  uint64_t detail = 0;        // the block event's: the first sector, where the guest says so
  WallNs announced_ns = 0;    // the block event
  WallNs from_ns = 0;         // switched out
  WallNs woken_ns = 0;
  WallNs run_ns = 0;          // switched in again; woken_ns when the capture ends first
  bool certain = true;        // false: a lost event could have cut it
  std::vector<GuestVa> site;  // return addresses, leaf first: who waits

  [[nodiscard]] uint64_t blocked_ns() const noexcept { return woken_ns - from_ns; }
  [[nodiscard]] uint64_t total_ns() const noexcept { return run_ns - from_ns; }
};

struct DiskWaits {
  std::vector<DiskWait> waits;   // by woken_ns
  uint64_t never_blocked = 0;    // woken before the switch-out, or on their own CPU: no time was lost
  uint64_t unfinished = 0;       // not woken when the capture ended
  uint64_t left_out = 0;         // beyond kMaxWaits
  static constexpr size_t kMaxWaits = size_t{4} << 20;
};

/// Reads the capture twice, as the state machine of docs/off-cpu.md asks. An Error where it has no scheduler events.
/// `progress`: as capture::Handlers::progress, once from the start for each reading.
[[nodiscard]] Result<DiskWaits> read_disk_waits(const std::string& capture_path,
                                                const std::function<void(uint64_t done, uint64_t whole)>& progress);

}  // namespace qperf::timeline
