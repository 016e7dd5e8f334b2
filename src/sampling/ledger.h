#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "capture/records.h"
#include "sampling/sampler.h"

namespace qperf::sampling {

/// The writer's own counters of one vCPU.
struct WrittenCounts {
  uint64_t stored = 0;
  uint64_t dropped = 0;
  uint64_t weight_stored = 0;
  std::array<uint64_t, capture::kStopReasonCount> walks_by_stop{};
  Insns exact_insns = 0;               // mode=exact: of the counts that were written
  Insns insns_while_off = 0;           // executed before sampling was last switched on
  std::optional<Insns> insns_at_stop;  // while sampling is switched off
  capture::EventCounts events_stored{};
  capture::EventCounts events_dropped{};
};

enum class Moment : uint8_t {
  kRunning,  // vCPUs run on: ticks not yet taken count as lost, in case this is the last ledger of the file
  kEnd,      // sampling has ended: a vCPU that idles takes its pending ticks as idle
};

/// Adds up where every tick and sample went, for each vCPU that has ever been there. Writer thread.
[[nodiscard]] capture::Ledger make_ledger(Sampler& sampler, const std::vector<WrittenCounts>& written, Moment moment,
                                          WallNs now, WallNs stopped_ns);

/// The numbers of the last line on stderr, without the leading word: samples, drops by cause, buckets.
[[nodiscard]] std::string describe(const capture::Ledger& ledger, guest::Mode mode, bool idle_known);

/// "1200 trace events (switch 700, block 500), dropped 3 (vcpu 1: wake 3)".
[[nodiscard]] std::string describe_events(const capture::Ledger& ledger);

}  // namespace qperf::sampling
