#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "export/perfetto_samples.h"
#include "export/perfetto_sequence.h"
#include "export/proto_writer.h"
#include "export/text_sink.h"
#include "export/timeline_writer.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// Writes a Perfetto trace: lanes as track events, samples as perf_sample packets. Written as it comes; memory grows with
/// distinct names, frames, stacks and lanes.
class PerfettoWriter final : public TimelineWriter {
 public:
  /// Both outlive the writer.
  PerfettoWriter(const profile::NamedStacks& names, const PerfettoTimebase& timebase, TextSink& sink);

  void lane(LaneId id, LaneGroup group, std::string_view name) override;
  void slice(const TimelineSlice& slice) override;
  void instant(const TimelineInstant& instant) override;
  void sample(const TimelineSample& sample) override;
  void finish() override {}

 private:
  void details(std::span<const TimelineDetail> details, ProtoWriter& event);
  void start_slice(LaneId lane, std::string_view name);
  void add_flow(FlowId flow, uint32_t old_field, uint32_t field);
  void end_slice(LaneId lane, WallNs at_ns);
  void process(LaneGroup group);
  PerfettoSamples& host_samples();

  const profile::NamedStacks& names_;
  TextSink& sink_;
  PerfettoSequence sequence_;  // of all but the host's samples
  PerfettoSamples samples_;
  std::optional<PerfettoSequence> host_sequence_;
  std::optional<PerfettoSamples> host_;
  std::vector<LaneGroup> group_of_lane_;
  bool process_written_[kLaneGroupCount] = {};
  PerfettoSequence::Texts event_names_;
  PerfettoSequence::Texts annotation_names_;
  ProtoWriter event_;  // reused, as the next
  ProtoWriter inner_;
};

}  // namespace qperf::exporter
