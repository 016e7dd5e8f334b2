#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/reader.h"
#include "qemutrace/device_names.h"
#include "qemutrace/filter.h"
#include "qemutrace/source.h"
#include "timeline/clock_map.h"
#include "timeline/disk_waits.h"
#include "timeline/wait_split.h"

namespace qperf::timeline {

/// The virtio-blk requests of a QEMU trace, on a capture's clock.
struct DeviceTrace {
  ClockMap clock;
  std::vector<PlacedRequest> requests;
  qemutrace::DeviceNames names;
  qemutrace::ReadReport report;
  uint64_t unfinished = 0;     // begun and not ended in the trace: not among the requests
  uint64_t without_start = 0;  // ended, but begun before the trace: neither
  uint64_t left_out = 0;       // beyond kMaxRequests and the bounds of RequestTracker
  uint64_t too_late = 0;       // records too far out of order to be put in their place
  static constexpr size_t kMaxRequests = size_t{4} << 20;

  /// "virtio-blk0 (disk.img) queue 0", printable; an address where the trace does not name it.
  [[nodiscard]] std::string queue_name(const qemutrace::Request& request) const;
};

/// Reads all of `source` in the order of time; `filter` may leave events out, null keeps all. An Error: see ClockMap::make().
[[nodiscard]] Result<DeviceTrace> read_device_trace(qemutrace::EventSource& source, qemutrace::Filter* filter,
                                                    const capture::Summary& capture);

/// A capture's waits for disks with the requests that ended them.
struct TracedWaits {
  DeviceTrace trace;
  std::unique_ptr<DiskWaits> waits;  // nullptr: the capture has no scheduler events, so that nobody is known to wait
  Split split;                       // of both; without waits, every request is unmatched or outside

  [[nodiscard]] bool has_waits() const noexcept { return waits != nullptr; }
};

/// `waits`: nullptr as in TracedWaits. `trace` was read for `capture`.
[[nodiscard]] TracedWaits match_waits(DeviceTrace trace, std::unique_ptr<DiskWaits> waits, const capture::Summary& capture);

}  // namespace qperf::timeline
