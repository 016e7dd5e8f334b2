#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/events.h"
#include "capture/records.h"
#include "capture/reader.h"
#include "sched/phases.h"

namespace qperf::analysis {

/// What is in a capture, counted, without any symbols.
struct CaptureCensus {
  std::string path;
  uint64_t file_bytes = 0;
  /// A capture of the older Rust profiler: only `samples` and `legacy_cut` say something.
  bool legacy = false;
  bool legacy_cut = false;
  capture::Summary summary;

  /// Whole chunks with records, by kind.
  struct Chunks {
    uint64_t samples = 0;
    uint64_t events = 0;
    uint64_t counts = 0;
    uint64_t fingerprints = 0;
    uint64_t ledgers = 0;  // with the trailer's

    [[nodiscard]] uint64_t sum() const noexcept { return samples + events + counts + fingerprints + ledgers; }
  };
  Chunks chunks;

  /// Of one vCPU, in the file.
  struct Stored {
    uint64_t samples = 0;
    uint64_t weight = 0;
    WallNs first_wall_ns = 0;  // of its samples
    WallNs last_wall_ns = 0;
  };
  std::map<VcpuIndex, Stored> stored;
  uint64_t samples = 0;
  uint64_t weight = 0;
  uint64_t fingerprints = 0;
  uint64_t counted_blocks = 0;
  uint64_t counted_insns = 0;

  capture::EventCounts events{};
  std::map<VcpuIndex, capture::EventCounts> event_drops;
  uint64_t missing_events = 0;  // in chunks that are missing
  std::vector<sched::Phase> phases;

  /// Nothing of the recording is lost in the file. What the recorder dropped is not meant.
  [[nodiscard]] bool whole() const noexcept;
};

/// Reads all of `path` once.
[[nodiscard]] Result<CaptureCensus> take_census(const std::string& path);

}  // namespace qperf::analysis
