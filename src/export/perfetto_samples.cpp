#include "export/perfetto_samples.h"

#include <algorithm>

#include "base/printable.h"

namespace qperf::exporter {
namespace {

constexpr uint32_t kPerfSamplePacket = 66;
namespace interned_field {
enum : uint32_t { kFunctionNames = 5, kFrames = 6, kCallstacks = 7, kMappingPaths = 17, kSourcePaths = 18, kMappings = 19 };
}
namespace frame_field {
enum : uint32_t { kIid = 1, kFunctionName = 2, kMapping = 3, kOffset = 4, kSourcePath = 5, kLine = 6 };
}
namespace mapping_field {
enum : uint32_t { kIid = 1, kPath = 7 };
}
namespace sample_field {
enum : uint32_t { kCpu = 1, kPid = 2, kTid = 3, kCallstack = 4, kCpuMode = 5, kTimebaseCount = 6 };
}

constexpr uint64_t kMapping = 1;

}  // namespace

ProtoWriter PerfettoSamples::defaults_of(const PerfettoTimebase& timebase) {
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
  return defaults;
}

PerfettoSamples::PerfettoSamples(const profile::NamedStacks& names, uint64_t period, Mode mode, std::string_view mapping,
                                 PerfettoSequence& sequence)
    : names_(names), unit_(std::max(period, uint64_t{1})), mode_(mode), sequence_(sequence) {
  ProtoWriter path;
  path.number(1, kMapping);
  path.bytes(2, mapping);
  sequence_.interned().message(interned_field::kMappingPaths, path);
  ProtoWriter entry;
  entry.number(mapping_field::kIid, kMapping);
  entry.number(mapping_field::kPath, kMapping);
  sequence_.interned().message(interned_field::kMappings, entry);
}

uint64_t PerfettoSamples::frame_iid(profile::FrameId frame) {
  if (frame_iids_.size() <= frame.raw) frame_iids_.resize(names_.frames.size());
  uint64_t& iid = frame_iids_[frame.raw];
  if (iid != 0) return iid;
  iid = ++frames_;
  const profile::Frame& named = names_.frames[frame];
  ProtoWriter entry;
  entry.number(frame_field::kIid, iid);
  entry.number(frame_field::kFunctionName, sequence_.intern(function_names_, interned_field::kFunctionNames, named.name));
  entry.number(frame_field::kMapping, kMapping);
  entry.number(frame_field::kOffset, 0);
  if (!named.file.empty())
    entry.number(frame_field::kSourcePath, sequence_.intern(source_paths_, interned_field::kSourcePaths, named.file));
  if (named.line != 0) entry.number(frame_field::kLine, named.line);
  sequence_.interned().message(interned_field::kFrames, entry);
  return iid;
}

uint64_t PerfettoSamples::callstack_iid(profile::StackId stack) {
  if (callstack_iids_.size() <= stack.raw) callstack_iids_.resize(names_.stacks.size());
  uint64_t& iid = callstack_iids_[stack.raw];
  if (iid != 0) return iid;
  iid = ++callstacks_;
  ProtoWriter entry;
  entry.number(1, iid);
  for (const profile::FrameId frame : names_.stacks[stack]) entry.number(2, frame_iid(frame));  // the root first
  sequence_.interned().message(interned_field::kCallstacks, entry);
  return iid;
}

void PerfettoSamples::sample(const TimelineSample& sample, uint64_t pid, uint64_t tid) {
  if (counts_.size() <= sample.vcpu.raw) counts_.resize(sample.vcpu.raw + size_t{1});
  uint64_t& count = counts_[sample.vcpu.raw];
  count = profile::saturating_add(count, profile::saturating_multiply(sample.weight, unit_));
  packet_.clear();
  packet_.number(sample_field::kCpu, sample.vcpu.raw);
  packet_.number(sample_field::kPid, pid);
  packet_.number(sample_field::kTid, tid);
  packet_.number(sample_field::kCallstack, callstack_iid(sample.stack));
  packet_.number(sample_field::kCpuMode, static_cast<uint64_t>(mode_));
  packet_.number(sample_field::kTimebaseCount, count);
  sequence_.packet(sample.at_ns, kPerfSamplePacket, packet_);
}

}  // namespace qperf::exporter
