#pragma once

#include <functional>
#include <map>
#include <string>

#include "timeline/device_trace.h"
#include "timeline/wait_sums.h"
#include "tools/qperf/table.h"

namespace qperf::tools {

/// "read" or "write", as the reason of the wait says.
[[nodiscard]] const char* wait_direction(const timeline::DiskWait& wait) noexcept;

/// Which waits are counted; empty: all.
using WaitChoice = std::function<bool(const timeline::DiskWait&)>;

/// The waits of a capture that were chosen, and how far their splits can be believed.
struct WaitCounts {
  timeline::WaitTrust trust;
  uint64_t unmatched = 0;

  WaitCounts(const timeline::Split& split, const WaitChoice& chosen);
  [[nodiscard]] uint64_t waits() const noexcept { return trust.matched + unmatched; }
};

/// A row for each part of each group, for the time blocked, which the first four parts add up to, and for all of it.
[[nodiscard]] Table wait_part_table(const std::map<std::string, timeline::WaitSums>& groups);

/// How the trace's stamps were mapped and how far that can be off.
[[nodiscard]] std::string clock_lines(const timeline::ClockMap& clock);
/// What stands below that table: what was matched, what could not be, the clock, the check by cause and effect.
[[nodiscard]] std::string wait_lines(const timeline::TracedWaits& traced, const WaitCounts& counts);
/// The same as members of `out`.
void add_wait_members(const timeline::TracedWaits& traced, const WaitCounts& counts, JsonObject& out);
/// `clock` and `clock_residual_ns`.
void add_clock_members(const timeline::ClockMap& clock, JsonObject& out);

}  // namespace qperf::tools
