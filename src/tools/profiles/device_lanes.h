#pragma once

#include <cstdint>
#include <limits>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sched/window.h"
#include "timeline/device_trace.h"

namespace qperf::tools {

/// QEMU's device requests beside a capture, and which part of time is looked at.
struct DeviceView {
  const timeline::TracedWaits& traced;
  sched::SpanSet window;  // wall ns
};

/// "read", "write", or "other": a flush, a question for the device's name.
[[nodiscard]] std::string_view request_kind(const qemutrace::Request& request) noexcept;

/// The requests of each virtio-blk queue, in as many lanes as hold them apart.
class DeviceLanes {
 public:
  /// A picture with more lanes shows nothing.
  static constexpr size_t kUsualMost = 256;

  /// `view` outlives the lanes.
  explicit DeviceLanes(const DeviceView& view, size_t most_lanes = kUsualMost);

  struct Slice {
    const timeline::PlacedRequest* request = nullptr;
    uint32_t lane = 0;
    WallNs from_ns = 0;  // what of the request lies in the window
    WallNs to_ns = 0;
  };
  /// By lane, then in order of time; those of one lane do not overlap.
  [[nodiscard]] std::span<const Slice> slices() const noexcept { return slices_; }
  /// By lane: "virtio-blk0 (disk.img) queue 0", then "virtio-blk0 (disk.img) queue 0 #2".
  [[nodiscard]] const std::vector<std::string>& names() const noexcept { return names_; }
  /// Requests in the window for which there is no lane.
  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }
  static constexpr uint32_t kNoLane = std::numeric_limits<uint32_t>::max();
  /// kNoLane: nothing of it is drawn.
  [[nodiscard]] uint32_t lane_of(const timeline::PlacedRequest& request) const noexcept;

 private:
  struct Placing;
  void cut(const timeline::PlacedRequest& request, uint32_t lane);

  const DeviceView& view_;
  std::vector<Slice> slices_;
  std::vector<std::string> names_;
  std::vector<uint32_t> lane_of_request_;
  uint64_t left_out_ = 0;
};

/// The waits that requests are known to have ended, by when they ended.
class EndedWaits {
 public:
  explicit EndedWaits(const timeline::Split& split);

  /// nullptr: no request is known to have ended a wait of this task then.
  [[nodiscard]] const timeline::SplitWait* find(TaskId task, WallNs woken_ns) const;

 private:
  std::map<std::pair<uint64_t, WallNs>, const timeline::SplitWait*> waits_;
};

}  // namespace qperf::tools
