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

/// How the host's samples are drawn.
struct HostStyle {
  enum class Lanes : uint8_t {
    kThreads,  // the samples of all threads come in order of time
    kCpus,     // only those of one CPU do; a slice for the thread is outside of each stack
  };
  Lanes lanes = Lanes::kThreads;
  SampleSpan span{.ns_per_weight = 0, .least_ns = 10'000'000};
};

/// Writes Chrome's Trace Event JSON: lanes as complete events, samples as nested slices, which every reader of the format
/// draws (its own stack samples are read by one only). Written as it comes; memory grows with vCPUs and lanes.
class ChromeWriter final : public TimelineWriter {
 public:
  /// Both outlive the writer.
  ChromeWriter(const profile::NamedStacks& names, SampleSpan span, HostStyle host, TextSink& sink);

  void lane(LaneId id, LaneGroup group, std::string_view name) override;
  void slice(const TimelineSlice& slice) override;
  void instant(const TimelineInstant& instant) override;
  void sample(const TimelineSample& sample) override;
  void finish() override;

 private:
  /// The slices of a lane of samples that are open.
  struct Open {
    uint64_t pid = 0;  // 0: not yet named
    uint64_t tid = 0;
    bool in_thread = false;  // the outermost slice is a thread of the host, that of lane `thread`
    LaneId thread;
    std::vector<profile::FrameId> frames;  // root first
    WallNs last_ns = 0;
    WallNs until_ns = 0;  // at the latest
  };

  void begin_event(std::string_view phase, uint64_t pid, uint64_t tid);
  void metadata(std::string_view what, uint64_t pid, uint64_t tid, std::string_view name);
  void args(std::span<const TimelineDetail> details);
  void complete_event(LaneId lane, const TimelinePart& span, std::span<const TimelineDetail> details);
  void flow_end(std::string_view phase, LaneId lane, WallNs at_ns, FlowId flow);
  void process(uint64_t pid);
  Open& lane_of(const TimelineSample& sample, bool host);
  void begin_frame(const Open& open, WallNs at_ns, std::string_view name);
  void end_frame(const Open& open, WallNs at_ns);
  void close(Open& open, size_t keep, WallNs at_ns);
  void close_all(Open& open, WallNs at_ns);

  const profile::NamedStacks& names_;
  SampleSpan span_;
  HostStyle host_;
  JsonWriter json_;
  TextSink& sink_;
  std::vector<LaneGroup> group_of_lane_;
  bool process_written_[kLaneGroupCount + 2] = {};  // by pid - 1
  std::vector<std::string> host_threads_;           // names, by lane
  std::vector<Open> open_;                          // by vCPU
  std::vector<Open> host_open_;                     // by CPU of the host, or by lane
};

}  // namespace qperf::exporter
