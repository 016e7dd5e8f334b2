#include "export/perfetto.h"

#include <algorithm>

#include "base/printable.h"

namespace qperf::exporter {
namespace {

/// Field numbers of Perfetto's trace format.
constexpr uint32_t kTracePacket = 1;
namespace packet_field {
enum : uint32_t {
  kTimestamp = 8,
  kSequenceId = 10,
  kTrackEvent = 11,
  kInternedData = 12,
  kSequenceFlags = 13,
  kDefaults = 59,
  kTrackDescriptor = 60,
  kPerfSample = 66,
  kFirstOnSequence = 87,
};
}
namespace interned_field {
enum : uint32_t {
  kEventNames = 2,
  kAnnotationNames = 3,
  kFunctionNames = 5,
  kFrames = 6,
  kCallstacks = 7,
  kMappingPaths = 17,
  kSourcePaths = 18,
  kMappings = 19,
};
}
namespace frame_field {
enum : uint32_t { kIid = 1, kFunctionName = 2, kMapping = 3, kOffset = 4, kSourcePath = 5, kLine = 6 };
}
namespace mapping_field {
enum : uint32_t { kIid = 1, kPath = 7 };
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
namespace sample_field {
enum : uint32_t { kCpu = 1, kPid = 2, kTid = 3, kCallstack = 4, kCpuMode = 5, kTimebaseCount = 6 };
}
enum EventType : uint64_t { kSliceBegin = 1, kSliceEnd = 2, kInstant = 3 };

constexpr uint64_t kSequence = 1;
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;
constexpr uint64_t kGuestKernel = 4;  // of Profiling.CpuMode
// Frames are functions, whatever ELF they are from: one mapping holds them all. Viewers of 2021 refuse stacks whose
// frames have none.
constexpr uint64_t kMapping = 1;
constexpr std::string_view kMappingPath = "guest";

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
  }
  return "?";
}

}  // namespace

PerfettoWriter::PerfettoWriter(const profile::NamedStacks& names, const PerfettoTimebase& timebase, TextSink& sink)
    : names_(names), unit_(std::max(timebase.period, uint64_t{1})), sink_(sink) {
  constexpr uint32_t kPerfSampleDefaults = 12;
  constexpr uint32_t kTimebase = 1;
  enum : uint32_t { kPeriod = 1, kCounter = 4, kName = 10 };
  enum : uint64_t { kCpuClock = 1, kHardwareInstructions = 11 };
  ProtoWriter base;
  if (timebase.period != 0) base.number(kPeriod, timebase.period);
  base.number(kCounter, timebase.instructions ? kHardwareInstructions : kCpuClock);
  base.bytes(kName, printable(timebase.name));
  ProtoWriter perf;
  perf.message(kTimebase, base);
  ProtoWriter defaults;
  defaults.message(kPerfSampleDefaults, perf);
  ProtoWriter packet;
  packet.number(packet_field::kSequenceId, kSequence);
  packet.number(packet_field::kSequenceFlags, kStateCleared | kNeedsState);
  packet.number(packet_field::kFirstOnSequence, 1);
  packet.message(packet_field::kDefaults, defaults);
  write_message(sink_, kTracePacket, packet);
  ProtoWriter path;
  path.number(1, kMapping);
  path.bytes(2, kMappingPath);
  interned_.message(interned_field::kMappingPaths, path);
  ProtoWriter mapping;
  mapping.number(mapping_field::kIid, kMapping);
  mapping.number(mapping_field::kPath, kMapping);
  interned_.message(interned_field::kMappings, mapping);
}

void PerfettoWriter::packet(uint64_t at_ns, uint32_t field, const ProtoWriter& message) {
  packet_.clear();
  packet_.number(packet_field::kTimestamp, at_ns);
  packet_.number(packet_field::kSequenceId, kSequence);
  packet_.number(packet_field::kSequenceFlags, kNeedsState);
  if (!interned_.empty()) packet_.message(packet_field::kInternedData, interned_);
  interned_.clear();
  packet_.message(field, message);
  write_message(sink_, kTracePacket, packet_);
}

uint64_t PerfettoWriter::intern(Interned& table, uint32_t field, std::string_view text) {
  if (const auto known = table.find(text); known != table.end()) return known->second;
  const auto [position, added] = table.try_emplace(printable(text), table.size() + 1);
  if (added) {
    ProtoWriter entry;
    entry.number(1, position->second);
    entry.bytes(2, position->first);
    interned_.message(field, entry);
  }
  return position->second;
}

uint64_t PerfettoWriter::frame_iid(profile::FrameId frame) {
  if (frame_iids_.size() <= frame.raw) frame_iids_.resize(names_.frames.size());
  uint64_t& iid = frame_iids_[frame.raw];
  if (iid != 0) return iid;
  iid = ++frames_;
  const profile::Frame& named = names_.frames[frame];
  ProtoWriter entry;
  entry.number(frame_field::kIid, iid);
  entry.number(frame_field::kFunctionName, intern(function_names_, interned_field::kFunctionNames, named.name));
  entry.number(frame_field::kMapping, kMapping);
  entry.number(frame_field::kOffset, 0);
  if (!named.file.empty())
    entry.number(frame_field::kSourcePath, intern(source_paths_, interned_field::kSourcePaths, named.file));
  if (named.line != 0) entry.number(frame_field::kLine, named.line);
  interned_.message(interned_field::kFrames, entry);
  return iid;
}

uint64_t PerfettoWriter::callstack_iid(profile::StackId stack) {
  if (callstack_iids_.size() <= stack.raw) callstack_iids_.resize(names_.stacks.size());
  uint64_t& iid = callstack_iids_[stack.raw];
  if (iid != 0) return iid;
  iid = ++callstacks_;
  ProtoWriter entry;
  entry.number(1, iid);
  for (const profile::FrameId frame : names_.stacks[stack]) entry.number(2, frame_iid(frame));  // the root first
  interned_.message(interned_field::kCallstacks, entry);
  return iid;
}

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
  packet(0, packet_field::kTrackDescriptor, track);
}

void PerfettoWriter::lane(LaneId id, LaneGroup group, std::string_view name) {
  process(group);
  group_of_lane_.resize(std::max(group_of_lane_.size(), id.raw + size_t{1}));
  group_of_lane_[id.raw] = group;
  const std::string clean = printable(name);
  ProtoWriter track;
  track.number(track_field::kUuid, uuid_of(id));
  if (group == LaneGroup::kVcpu || group == LaneGroup::kTask) {  // samples belong to threads
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
  packet(0, packet_field::kTrackDescriptor, track);
}

void PerfettoWriter::details(std::span<const TimelineDetail> details, ProtoWriter& event) {
  for (const TimelineDetail& detail : details) {
    inner_.clear();
    inner_.number(annotation_field::kNameIid, intern(annotation_names_, interned_field::kAnnotationNames, detail.key));
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
  event_.number(event_field::kNameIid, intern(event_names_, interned_field::kEventNames, name));
}

void PerfettoWriter::end_slice(LaneId lane, WallNs at_ns) {
  event_.clear();
  event_.number(event_field::kType, kSliceEnd);
  event_.number(event_field::kTrack, uuid_of(lane));
  packet(at_ns, packet_field::kTrackEvent, event_);
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
  packet(slice.from_ns, packet_field::kTrackEvent, event_);
  for (const TimelinePart& part : slice.parts) {
    start_slice(slice.lane, part.name);
    packet(part.from_ns, packet_field::kTrackEvent, event_);
    end_slice(slice.lane, part.to_ns);
  }
  end_slice(slice.lane, slice.to_ns);
}

void PerfettoWriter::instant(const TimelineInstant& instant) {
  event_.clear();
  event_.number(event_field::kType, kInstant);
  event_.number(event_field::kTrack, uuid_of(instant.lane));
  event_.number(event_field::kNameIid, intern(event_names_, interned_field::kEventNames, instant.name));
  details(instant.details, event_);
  if (instant.flow.raw != 0) add_flow(instant.flow, event_field::kOldFlow, event_field::kFlow);
  packet(instant.at_ns, packet_field::kTrackEvent, event_);
}

void PerfettoWriter::sample(const TimelineSample& sample) {
  if (counts_.size() <= sample.vcpu.raw) counts_.resize(sample.vcpu.raw + size_t{1});
  uint64_t& count = counts_[sample.vcpu.raw];
  count = profile::saturating_add(count, profile::saturating_multiply(sample.weight, unit_));
  event_.clear();
  event_.number(sample_field::kCpu, sample.vcpu.raw);
  event_.number(sample_field::kPid, pid_of(group_of_lane_[sample.lane.raw]));
  event_.number(sample_field::kTid, tid_of(sample.lane));
  event_.number(sample_field::kCallstack, callstack_iid(sample.stack));
  event_.number(sample_field::kCpuMode, kGuestKernel);
  event_.number(sample_field::kTimebaseCount, count);
  packet(sample.at_ns, packet_field::kPerfSample, event_);
}

}  // namespace qperf::exporter
