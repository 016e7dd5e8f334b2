#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "analysis/elf_argument.h"
#include "base/result.h"
#include "capture/reader.h"

namespace qperf::tools {

/// Where a function was found among the samples of the window: shares of their weight.
struct HotFunction {
  std::string name;  // printable
  uint64_t self = 0;
  uint64_t inclusive = 0;
};

struct HotTask {
  std::string label;  // printable
  uint64_t weight = 0;
};

/// One vCPU's ticks (wall) or samples (icount) since the ledger before.
struct VcpuLoad {
  uint32_t vcpu = 0;
  capture::Ticks ticks;
  uint64_t weight = 0;  // of its samples in the window
};

/// What the last seconds of a capture look like.
struct Snapshot {
  std::string guest;     // "riscv64, wall at 99 Hz"
  WallNs end_ns = 0;     // of the newest record
  uint64_t samples = 0;  // in the window
  uint64_t weight = 0;
  uint64_t dropped = 0;  // samples since the start
  bool finished = false;
  uint64_t damaged_chunks = 0;  // since the start, missing ones too
  std::optional<WallNs> whole_since_ns;  // the window has more samples than are kept: those from before are not in it
  std::vector<VcpuLoad> vcpus;         // by number
  std::vector<HotTask> tasks;          // heaviest first; empty without trace events
  std::vector<HotFunction> functions;  // by self, then inclusive, then name
};

/// Follows a capture and keeps the samples of its last seconds.
class LiveProfile {
 public:
  /// `elfs`: empty for the one that the capture names.
  [[nodiscard]] static Result<LiveProfile> open(const std::string& path, std::vector<analysis::ElfArgument> elfs,
                                                uint64_t window_ns);
  LiveProfile(LiveProfile&&) noexcept;
  LiveProfile& operator=(LiveProfile&&) noexcept;
  ~LiveProfile();

  /// Reads what has come since the last call.
  [[nodiscard]] Result<Snapshot> refresh();

 private:
  struct State;
  explicit LiveProfile(std::unique_ptr<State> state) noexcept;
  std::unique_ptr<State> state_;
};

}  // namespace qperf::tools
