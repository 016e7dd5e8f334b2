#pragma once

#include <cstdint>
#include <functional>
#include <memory>

#include "base/result.h"
#include "base/types.h"
#include "profile/ids.h"

namespace qperf::analysis {

/// One selected sample.
struct TimedSample {
  VcpuIndex vcpu;
  TaskId task;
  WallNs wall_ns = 0;
  uint64_t weight = 0;
  profile::StackId stack;  // of the NamedStacks that the profile was made with
};

/// Reads the samples of a profiled capture once more, each with its named stack: for pictures of time, whose memory must not
/// grow with samples.
class SampleReplay {
 public:
  /// replay_parts.h
  struct Parts;
  explicit SampleReplay(std::unique_ptr<Parts> parts);
  ~SampleReplay();

  /// In the order of the file: one vCPU's samples ascend in time, chunks of different vCPUs alternate. The view that chose the
  /// samples must still live.
  Result<void> run(const std::function<void(const TimedSample&)>& use) const;

 private:
  std::unique_ptr<Parts> parts_;
};

}  // namespace qperf::analysis
