#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace qperf::profile {

/// A set of vCPUs as a user lists them ("0,2-3"). Empty: all.
class VcpuSet {
 public:
  /// Numbers and inclusive ranges, separated by commas; each number at most kMaxNumber. Spaces are not allowed.
  [[nodiscard]] static Result<VcpuSet> parse(std::string_view text);

  [[nodiscard]] bool contains(VcpuIndex vcpu) const noexcept;
  [[nodiscard]] bool all() const noexcept { return ranges_.empty(); }
  /// The members below `end`, ascending.
  [[nodiscard]] std::vector<VcpuIndex> members_below(uint32_t end) const;
  /// The largest member; only if !all().
  [[nodiscard]] VcpuIndex largest() const noexcept;

  static constexpr uint32_t kMaxNumber = 4095;

 private:
  struct Range {
    uint32_t first;
    uint32_t last;  // inclusive
  };
  std::vector<Range> ranges_;  // ascending, disjoint
};

/// Which of a capture's two clocks a window counts in.
enum class Domain : uint8_t { kWallNs, kInsns };

/// Half-open window [from, until) on one clock.
struct Window {
  Domain domain = Domain::kWallNs;
  uint64_t from = 0;
  std::optional<uint64_t> until;  // nullopt: to the end

  [[nodiscard]] bool everything() const noexcept { return from == 0 && !until; }
  [[nodiscard]] bool contains(WallNs wall_ns, Insns insns) const noexcept {
    const uint64_t clock = domain == Domain::kWallNs ? wall_ns : insns;
    return clock >= from && (!until || clock < *until);
  }
};

/// Which samples are looked at.
struct SampleFilter {
  VcpuSet vcpus;
  Window window;
};

}  // namespace qperf::profile
