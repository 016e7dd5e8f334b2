#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "export/perfetto_sequence.h"
#include "export/proto_writer.h"
#include "export/timeline_writer.h"
#include "profile/frame_table.h"

namespace qperf::exporter {

/// What the weights of samples count.
struct PerfettoTimebase {
  std::string name;           // shown as the counter's
  bool instructions = false;  // else wall time
  uint64_t period = 0;        // ns or instructions in a weight of 1; 0: not known
};

/// Samples of one timebase, as the perf_sample packets that viewers know since 2020. Memory grows with distinct frames and stacks.
class PerfettoSamples {
 public:
  /// Where they ran: Perfetto's Profiling.CpuMode.
  enum class Mode : uint8_t { kUnknown = 0, kGuestKernel = 4 };

  /// A TracePacketDefaults for the sequence that the samples are on.
  [[nodiscard]] static ProtoWriter defaults_of(const PerfettoTimebase& timebase);

  /// `names` and `sequence` outlive it. `mapping`: what all functions are said to be in. Viewers of 2021 refuse stacks whose
  /// frames are in none; from which ELF of several a function is, they are not told.
  PerfettoSamples(const profile::NamedStacks& names, uint64_t period, Mode mode, std::string_view mapping, PerfettoSequence& sequence);

  void sample(const TimelineSample& sample, uint64_t pid, uint64_t tid);

 private:
  uint64_t frame_iid(profile::FrameId frame);
  uint64_t callstack_iid(profile::StackId stack);

  const profile::NamedStacks& names_;
  uint64_t unit_;  // of the counter, in a weight of 1
  Mode mode_;
  PerfettoSequence& sequence_;
  PerfettoSequence::Texts function_names_;
  PerfettoSequence::Texts source_paths_;
  std::vector<uint64_t> frame_iids_;  // by frame; 0: not yet written
  uint64_t frames_ = 0;
  std::vector<uint64_t> callstack_iids_;  // by stack; 0: not yet written
  uint64_t callstacks_ = 0;
  std::vector<uint64_t> counts_;  // the counter, by CPU
  ProtoWriter packet_;            // reused
};

}  // namespace qperf::exporter
