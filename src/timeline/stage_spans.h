#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "timeline/wait_split.h"

namespace qperf::timeline {

/// What of a request's life begins with a stage that the trace tells of.
struct StageSpan {
  qemutrace::Stage from = qemutrace::Stage::kPop;
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};

/// First to last stamp: [from_ns, to_ns) on the capture's clock.
struct RequestSpan {
  int64_t from_ns = 0;
  int64_t to_ns = 0;
};
[[nodiscard]] RequestSpan span_of(const PlacedRequest& request) noexcept;

/// The spans between its stamps in order, none empty: together they are span_of(). Stamps of two threads can be swapped by a
/// little; a later stage then begins where the one before does.
[[nodiscard]] std::vector<StageSpan> stage_spans(const PlacedRequest& request);

}  // namespace qperf::timeline
