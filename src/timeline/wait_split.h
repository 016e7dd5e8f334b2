#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "qemutrace/requests.h"
#include "timeline/clock_map.h"
#include "timeline/disk_waits.h"

namespace qperf::timeline {

/// A device's request with its points on the capture's clock.
struct PlacedRequest {
  qemutrace::Request request;  // its own at_ns are the trace's
  std::array<std::optional<int64_t>, qemutrace::kStages> at_ns;

  [[nodiscard]] std::optional<int64_t> at(qemutrace::Stage stage) const noexcept { return at_ns[static_cast<size_t>(stage)]; }
  [[nodiscard]] int64_t popped_ns() const noexcept { return at(qemutrace::Stage::kPop).value_or(0); }
  /// When the guest was told: the interrupt, or the used ring where no interrupt was seen.
  [[nodiscard]] int64_t told_ns() const noexcept;
};

[[nodiscard]] PlacedRequest place(const qemutrace::Request& request, const ClockMap& clock);

/// What a task waits for, in the order in which it happens.
enum class WaitPart : uint8_t {
  kQueueing,   // from the switch-out until QEMU takes the request
  kQemu,       // in QEMU, before and after the host
  kHost,       // handed to the host's I/O
  kInterrupt,  // told, but not yet woken by the guest's handler
  kRun,        // woken, waiting for a CPU
};
inline constexpr size_t kWaitParts = 5;
[[nodiscard]] std::string_view wait_part_name(WaitPart part) noexcept;

/// A wait with the request that ended it. The parts add up to wait.total_ns(), the first four to wait.blocked_ns().
struct SplitWait {
  const DiskWait* wait = nullptr;
  const PlacedRequest* request = nullptr;
  bool by_sector = false;       // the block event named the request's sector; else the times alone chose it
  bool host_known = false;      // false: the trace lacks the host's events, and its time is in kQemu
  uint64_t contradiction_ns = 0;  // by how much the device's times, as mapped, leave the guest's: block <= pop, told <= wake
  std::array<uint64_t, kWaitParts> parts_ns{};
};

struct Split {
  std::vector<SplitWait> waits;
  std::vector<const DiskWait*> unmatched_waits;
  uint64_t unmatched_requests = 0;  // inside the capture's time, and no task waited for them
  uint64_t outside_requests = 0;    // before the plugin was loaded, or behind the capture's end
};

/// Matches each wait to one request of its direction (a flush belongs to writes): taken after the block event, told before the
/// wake, the latest such; of those told together the one taken first. Where block events name a sector that one of them has,
/// that one. `requests` and `waits` outlive the result; requests are put in order of told_ns().
[[nodiscard]] Split split_waits(const DiskWaits& waits, std::vector<PlacedRequest>& requests, const ClockMap& clock, WallNs end_ns);

}  // namespace qperf::timeline
