#pragma once

#include <array>
#include <cstdint>

#include "qemutrace/distribution.h"
#include "timeline/wait_split.h"

namespace qperf::timeline {

/// How long the parts of some waits took. The sums of the first four parts are the sum of `blocked`, all five that of `total`.
struct WaitSums {
  std::array<qemutrace::Distribution, kWaitParts> parts;
  qemutrace::Distribution blocked;
  qemutrace::Distribution total;

  void add(const SplitWait& split);
};

/// How far the splits of some waits can be believed.
struct WaitTrust {
  uint64_t matched = 0;
  uint64_t by_sector = 0;
  uint64_t host_unknown = 0;       // the host's time is in QEMU's
  uint64_t doubtful = 0;           // events of QEMU's or of the guest were lost in their span
  uint64_t contradictions = 0;     // cause and effect are out of order: a wait whose request ended after the wake cannot be
  uint64_t worst_contradiction_ns = 0;

  void add(const SplitWait& split);
};

}  // namespace qperf::timeline
