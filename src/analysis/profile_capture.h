#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/capture_input.h"
#include "analysis/elf_argument.h"
#include "analysis/image_set.h"
#include "analysis/message.h"
#include "analysis/progress.h"
#include "analysis/sample_replay.h"
#include "analysis/sample_view.h"
#include "base/result.h"
#include "profile/binned_weights.h"
#include "profile/filter.h"
#include "profile/frame_table.h"
#include "profile/located.h"
#include "profile/timeline.h"
#include "profile/weights.h"

namespace qperf::analysis {

/// Whether the order of the samples is of interest, or their sums only, or their sums by time.
enum class Order : uint8_t { kSums, kTimeline, kBins };

/// How closely stacks are told apart: by functions, or by addresses and lines too.
enum class Detail : uint8_t { kFunctions, kLines };

/// Whether the samples can be read again one by one, with their names.
enum class SampleAccess : uint8_t { kOnce, kAgain };

/// One capture, the ELFs to name it with and the part of it to look at.
struct CaptureRequest {
  std::string path;
  std::vector<ElfArgument> elfs;  // empty: the one that the capture names
  profile::VcpuSet vcpus;
  std::optional<uint64_t> from;   // in the capture's own domain: wall ns, or instructions on the sample's vCPU
  std::optional<uint64_t> until;  // exclusive
  Mismatch mismatch = Mismatch::kRefuse;
  Order order = Order::kSums;
  Detail detail = Detail::kFunctions;
  SampleAccess access = SampleAccess::kOnce;
  SampleView* view = nullptr;  // chooses samples and gives roots
  Progress* progress = nullptr;
};

/// Counts about the selected samples, as the report shows them. "Walks" are samples.
struct Tally {
  uint64_t samples_in_file = 0;
  uint64_t weight_in_file = 0;
  uint64_t samples = 0;
  uint64_t weight = 0;
  uint64_t bad_records = 0;  // older records of no address
  std::array<uint64_t, capture::kStopReasonCount> walks_by_stop{};
  uint64_t walks_with_dropped_roots = 0;  // by the recorder or by the rules
  uint64_t walks_with_restored_caller = 0;
  uint64_t addresses = 0;  // of all walks: the block's and its callers'
  uint64_t module_addresses = 0;
  uint64_t unknown_addresses = 0;
  uint64_t distinct_stacks = 0;
  uint64_t distinct_addresses = 0;
};

/// A capture as named stacks with weights; the stacks are in the NamedStacks that profile_capture() was given.
struct CaptureProfile {
  CaptureInput input;
  profile::WeightTable weights;  // by vCPU; exact counts are all under vCPU 0
  profile::Timeline timeline;    // with Order::kTimeline
  profile::BinnedWeights bins;   // with Order::kBins; by the view's roots; "wall ns" is the sample's position in older captures
  std::optional<profile::LocatedProfile> located;  // with Detail::kLines; its roots are the view's
  std::unique_ptr<SampleReplay> samples;  // with SampleAccess::kAgain, where samples have a clock
  Tally tally;
  bool complete = true;  // false: part of the capture is missing or damaged
  Messages messages;
};

/// Reads, selects, names and sums one capture. `names` may already hold those of another one, so that they can be compared.
[[nodiscard]] Result<CaptureProfile> profile_capture(const CaptureRequest& request, profile::NamedStacks& names);

}  // namespace qperf::analysis
