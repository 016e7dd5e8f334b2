#pragma once

#include <array>
#include <cstdint>

#include "capture/events.h"
#include "sched/interval.h"

namespace qperf::sched {

/// What the state machine needs of an event: 64 bytes, of which many wait while the streams of all vCPUs are put in order.
struct OrderedEvent {
  WallNs wall_ns = 0;
  uint64_t kind = 0;
  std::array<uint64_t, guest::kTraceArguments> args{};
  StackId stack;
  capture::EventType type = capture::EventType::kMarker;
};
static_assert(sizeof(OrderedEvent) == 64);

}  // namespace qperf::sched
