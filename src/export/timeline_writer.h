#pragma once

#include <compare>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/types.h"
#include "profile/ids.h"

/// Pictures of time: what the formats that draw lanes are told. All times are wall ns since the start of the capture.
namespace qperf::exporter {

/// What a lane is about; viewers show the lanes of a group together, in this order.
enum class LaneGroup : uint8_t {
  kVcpu,    // which task ran on a vCPU, and wake-ups it gave
  kDevice,  // requests to QEMU's devices
  kTask,    // what a task did: ran, waited, and for what
  kPhase,   // the guest's phases
  kLoss,    // where data is missing, by vCPU
  kHost,    // threads of the host
};
inline constexpr size_t kLaneGroupCount = 6;

/// A lane; the caller numbers them densely from 0.
struct LaneId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(LaneId, LaneId) = default;
};

/// A key with a text or, if `text` is empty, a number.
struct TimelineDetail {
  std::string_view key;
  std::string_view text;
  uint64_t number = 0;
};

/// Joins an instant with the slice that it caused; unique in a file, 0: none.
struct FlowId {
  uint64_t raw = 0;
};

/// What a slice consists of; from_ns < to_ns.
struct TimelinePart {
  WallNs from_ns = 0;
  WallNs to_ns = 0;
  std::string_view name;
};

/// A span of time in one lane, from_ns <= to_ns.
struct TimelineSlice {
  LaneId lane;
  WallNs from_ns = 0;
  WallNs to_ns = 0;
  std::string_view name;
  std::span<const TimelineDetail> details;
  FlowId flow;              // ends here
  FlowId second_flow = {};  // so does this
  std::span<const TimelinePart> parts = {};  // inside the slice, in order of time, not overlapping
};

struct TimelineInstant {
  LaneId lane;
  WallNs at_ns = 0;
  std::string_view name;
  std::span<const TimelineDetail> details;
  FlowId flow;  // begins here
};

struct TimelineSample {
  LaneId lane;  // of the task that ran, or of the vCPU where that is not known; of the host's thread
  VcpuIndex vcpu;  // a CPU of the host, if the lane is the host's
  WallNs at_ns = 0;
  uint64_t weight = 0;
  profile::StackId stack;
};

/// A format. Names are any bytes. A lane is declared before its first use; the slices of one lane come in order of time and
/// do not overlap; different lanes may come in any order.
class TimelineWriter {
 public:
  virtual ~TimelineWriter() = default;
  virtual void lane(LaneId id, LaneGroup group, std::string_view name) = 0;
  virtual void slice(const TimelineSlice& slice) = 0;
  virtual void instant(const TimelineInstant& instant) = 0;
  /// One vCPU's samples come in order of time, and so do those of one CPU of the host.
  virtual void sample(const TimelineSample& sample) = 0;
  /// Ends the file.
  virtual void finish() = 0;
};

}  // namespace qperf::exporter
