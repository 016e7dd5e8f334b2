#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "export/proto_writer.h"
#include "export/text_sink.h"
#include "export/timeline_writer.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// What the weights of samples count.
struct PerfettoTimebase {
  std::string name;           // shown as the counter's
  bool instructions = false;  // else wall time
  uint64_t period = 0;        // ns or instructions in a weight of 1; 0: not known
};

/// Writes a Perfetto trace: lanes as track events, samples as the perf_sample packets that viewers know since 2020. Written as
/// it comes; memory grows with distinct names, frames, stacks and lanes.
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
  struct TextHash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const noexcept { return std::hash<std::string_view>{}(text); }
  };
  using Interned = tsl::robin_map<std::string, uint64_t, TextHash, std::equal_to<>>;

  uint64_t intern(Interned& table, uint32_t field, std::string_view text);
  uint64_t frame_iid(profile::FrameId frame);
  uint64_t callstack_iid(profile::StackId stack);
  void details(std::span<const TimelineDetail> details, ProtoWriter& event);
  void start_slice(LaneId lane, std::string_view name);
  void add_flow(FlowId flow, uint32_t old_field, uint32_t field);
  void end_slice(LaneId lane, WallNs at_ns);
  void process(LaneGroup group);
  void packet(uint64_t at_ns, uint32_t field, const ProtoWriter& message);

  const profile::NamedStacks& names_;
  uint64_t unit_;  // of the counter, in a weight of 1
  TextSink& sink_;
  std::vector<LaneGroup> group_of_lane_;
  bool process_written_[kLaneGroupCount] = {};
  Interned event_names_;
  Interned annotation_names_;
  Interned function_names_;
  Interned source_paths_;
  std::vector<uint64_t> frame_iids_;      // by frame; 0: not yet written
  uint64_t frames_ = 0;
  std::vector<uint64_t> callstack_iids_;  // by stack; 0: not yet written
  uint64_t callstacks_ = 0;
  std::vector<uint64_t> counts_;  // the counter, by vCPU
  ProtoWriter interned_;          // what the next packet has to define first
  ProtoWriter packet_;            // reused, as the next two
  ProtoWriter event_;
  ProtoWriter inner_;
};

}  // namespace qperf::exporter
