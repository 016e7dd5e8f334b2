#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/json_writer.h"
#include "export/text_sink.h"
#include "export/timeline_writer.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// How long a sample's stack is drawn: until the vCPU's next sample, but no longer than this.
struct SampleSpan {
  uint64_t ns_per_weight = 0;
  uint64_t least_ns = 0;
};

/// Writes Chrome's Trace Event JSON: lanes as complete events, samples as nested slices per vCPU, which every reader of the
/// format draws (its own stack samples are read by one only). Written as it comes; memory grows with vCPUs.
class ChromeWriter final : public TimelineWriter {
 public:
  /// Both outlive the writer.
  ChromeWriter(const profile::NamedStacks& names, SampleSpan span, TextSink& sink);

  void lane(LaneId id, LaneGroup group, std::string_view name) override;
  void slice(const TimelineSlice& slice) override;
  void instant(const TimelineInstant& instant) override;
  void sample(const TimelineSample& sample) override;
  void finish() override;

 private:
  /// The slices of one vCPU's samples that are open.
  struct Open {
    bool named = false;
    std::vector<profile::FrameId> frames;  // root first
    WallNs last_ns = 0;
    WallNs until_ns = 0;  // at the latest
  };

  void begin_event(std::string_view phase, uint64_t pid, uint64_t tid);
  void metadata(std::string_view what, uint64_t pid, uint64_t tid, std::string_view name);
  void args(std::span<const TimelineDetail> details);
  void complete_event(LaneId lane, const TimelinePart& span, std::span<const TimelineDetail> details);
  void flow_end(std::string_view phase, LaneId lane, WallNs at_ns, FlowId flow);
  void close(uint32_t vcpu, size_t keep, WallNs at_ns);

  const profile::NamedStacks& names_;
  SampleSpan span_;
  JsonWriter json_;
  TextSink& sink_;
  std::vector<LaneGroup> group_of_lane_;
  bool process_written_[kLaneGroupCount + 1] = {};
  std::vector<Open> open_;  // by vCPU
};

}  // namespace qperf::exporter
