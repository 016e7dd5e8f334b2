#include "export/perfetto.h"

#include <algorithm>

#include "base/printable.h"

namespace qperf::exporter {
namespace {

/// Field numbers of Perfetto's trace format.
namespace packet_field {
enum : uint32_t { kTrackEvent = 11, kTrackDescriptor = 60 };
}
namespace interned_field {
enum : uint32_t { kEventNames = 2, kAnnotationNames = 3 };
}
namespace track_field {
enum : uint32_t { kUuid = 1, kName = 2, kProcess = 3, kThread = 4, kParent = 5 };
}
namespace event_field {
// Viewers of 2021 know the older two fields of arrows; later ones read those only where the newer two are missing.
enum : uint32_t {
  kAnnotations = 4,
  kType = 9,
  kNameIid = 10,
  kTrack = 11,
  kOldFlow = 36,
  kOldTerminatingFlow = 42,
  kFlow = 47,
  kTerminatingFlow = 48,
};
}
namespace annotation_field {
enum : uint32_t { kNameIid = 1, kNumber = 3, kText = 6 };
}
enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };

/// Tasks of a guest may share a pid or have none, so processes and threads are numbered here: a group is a process.
constexpr uint64_t pid_of(LaneGroup group) noexcept { return 1 + static_cast<uint64_t>(group); }
constexpr uint64_t tid_of(LaneId lane) noexcept { return 100 + uint64_t{lane.raw}; }
constexpr uint64_t uuid_of(LaneGroup group) noexcept { return 1 + static_cast<uint64_t>(group); }
constexpr uint64_t uuid_of(LaneId lane) noexcept { return 100 + uint64_t{lane.raw}; }

std::string_view process_name(LaneGroup group) noexcept {
  switch (group) {
    case LaneGroup::kVcpu: return "vCPUs";
    case LaneGroup::kDevice: return "devices";
    case LaneGroup::kTask: return "tasks";
    case LaneGroup::kPhase: return "phases";
    case LaneGroup::kLoss: return "losses";
    case LaneGroup::kHost: return "host";
  }
  return "?";
}

/// Samples belong to threads.
constexpr bool has_threads(LaneGroup group) noexcept { return group == LaneGroup::kVcpu || group == LaneGroup::kTask || group == LaneGroup::kHost; }

constexpr uint64_t kGuestSequence = 1;
constexpr uint64_t kHostSequence = 2;

}  // namespace

PerfettoWriter::PerfettoWriter(const profile::NamedStacks& names, const PerfettoTimebase& timebase, TextSink& sink)
    : names_(names),
      sink_(sink),
      sequence_(kGuestSequence, PerfettoSamples::defaults_of(timebase), sink),
      samples_(names, timebase.period, PerfettoSamples::Mode::kGuestKernel, "guest", sequence_) {}

void PerfettoWriter::process(LaneGroup group) {
  bool& written = process_written_[static_cast<size_t>(group)];
  if (written) return;
  written = true;
  enum : uint32_t { kPid = 1, kProcessName = 6 };
  ProtoWriter process;
  process.number(kPid, pid_of(group));
  process.bytes(kProcessName, process_name(group));
  ProtoWriter track;
  track.number(track_field::kUuid, uuid_of(group));
  track.message(track_field::kProcess, process);
  sequence_.packet(0, packet_field::kTrackDescriptor, track);
}

void PerfettoWriter::lane(LaneId id, LaneGroup group, std::string_view name) {
  process(group);
  group_of_lane_.resize(std::max(group_of_lane_.size(), id.raw + size_t{1}));
  group_of_lane_[id.raw] = group;
  const std::string clean = printable(name);
  ProtoWriter track;
  track.number(track_field::kUuid, uuid_of(id));
  if (has_threads(group)) {
    enum : uint32_t { kPid = 1, kTid = 2, kThreadName = 5 };
    ProtoWriter thread;
    thread.number(kPid, pid_of(group));
    thread.number(kTid, tid_of(id));
    thread.bytes(kThreadName, clean);
    track.message(track_field::kThread, thread);
  } else {
    track.number(track_field::kParent, uuid_of(group));
    track.bytes(track_field::kName, clean);
  }
  sequence_.packet(0, packet_field::kTrackDescriptor, track);
}

void PerfettoWriter::details(std::span<const TimelineDetail> details, ProtoWriter& event) {
  for (const TimelineDetail& detail : details) {
    inner_.clear();
    inner_.number(annotation_field::kNameIid, sequence_.intern(annotation_names_, interned_field::kAnnotationNames, detail.key));
    if (detail.text.empty())
      inner_.number(annotation_field::kNumber, detail.number);
    else
      inner_.bytes(annotation_field::kText, printable(detail.text));
    event.message(event_field::kAnnotations, inner_);
  }
}

void PerfettoWriter::start_slice(LaneId lane, std::string_view name) {
  event_.clear();
  event_.number(event_field::kType, kSliceBegin);
  event_.number(event_field::kTrack, uuid_of(lane));
  event_.number(event_field::kNameIid, sequence_.intern(event_names_, interned_field::kEventNames, name));
}

void PerfettoWriter::end_slice(LaneId lane, WallNs at_ns) {
  event_.clear();
  event_.number(event_field::kType, kSliceEnd);
  event_.number(event_field::kTrack, uuid_of(lane));
  sequence_.packet(at_ns, packet_field::kTrackEvent, event_);
}

void PerfettoWriter::add_flow(FlowId flow, uint32_t old_field, uint32_t field) {
  event_.number(old_field, flow.raw);
  event_.fixed64(field, flow.raw);
}

void PerfettoWriter::slice(const TimelineSlice& slice) {
  start_slice(slice.lane, slice.name);
  details(slice.details, event_);
  for (const FlowId flow : {slice.flow, slice.second_flow})
    if (flow.raw != 0) add_flow(flow, event_field::kOldTerminatingFlow, event_field::kTerminatingFlow);
  sequence_.packet(slice.from_ns, packet_field::kTrackEvent, event_);
  for (const TimelinePart& part : slice.parts) {
    start_slice(slice.lane, part.name);
    sequence_.packet(part.from_ns, packet_field::kTrackEvent, event_);
    end_slice(slice.lane, part.to_ns);
  }
  end_slice(slice.lane, slice.to_ns);
}

void PerfettoWriter::instant(const TimelineInstant& instant) {
  event_.clear();
  event_.number(event_field::kType, kInstant);
  event_.number(event_field::kTrack, uuid_of(instant.lane));
  event_.number(event_field::kNameIid, sequence_.intern(event_names_, interned_field::kEventNames, instant.name));
  details(instant.details, event_);
  if (instant.flow.raw != 0) add_flow(instant.flow, event_field::kOldFlow, event_field::kFlow);
  sequence_.packet(instant.at_ns, packet_field::kTrackEvent, event_);
}

void PerfettoWriter::sample(const TimelineSample& sample) {
  const LaneGroup group = group_of_lane_[sample.lane.raw];
  PerfettoSamples& samples = group == LaneGroup::kHost ? host_samples() : samples_;
  samples.sample(sample, pid_of(group), tid_of(sample.lane));
}

/// Counted by themselves: a sample of the host says nothing about the guest's timebase.
PerfettoSamples& PerfettoWriter::host_samples() {
  if (!host_) {
    host_sequence_.emplace(kHostSequence, PerfettoSamples::defaults_of({.name = "host: samples", .instructions = false, .period = 0}), sink_);
    host_.emplace(names_, 0, PerfettoSamples::Mode::kUnknown, "host", *host_sequence_);
  }
  return *host_;
}

}  // namespace qperf::exporter
