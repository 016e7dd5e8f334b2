#include "timeline/clock_map.h"

#include <fmt/core.h>

#include <cmath>
#include <cstdlib>
#include <limits>

namespace qperf::timeline {
namespace {

int64_t clamp_to_int64(double ns) noexcept {
  constexpr double kLimit = 9e18;
  return static_cast<int64_t>(std::fmin(std::fmax(ns, -kLimit), kLimit));
}

/// a - b; far-apart values, which only forged files have, stop at the limits.
int64_t difference(uint64_t a, uint64_t b) noexcept {
  const uint64_t distance = a > b ? a - b : b - a;
  constexpr auto kMost = static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  const auto bounded = static_cast<int64_t>(distance < kMost ? distance : kMost);
  return a > b ? bounded : -bounded;
}

/// a + b, which stops at the limits too.
int64_t sum(int64_t a, int64_t b) noexcept {
  using Limits = std::numeric_limits<int64_t>;
  if (b > 0 && a > Limits::max() - b) return Limits::max();
  if (b < 0 && a < Limits::min() - b) return Limits::min();
  return a + b;
}

}  // namespace

Result<ClockMap> ClockMap::make(const capture::Summary& capture, qemutrace::TraceClock clock) {
  using qemutrace::TraceClock;
  ClockMap map;
  switch (clock) {
    case TraceClock::kNone:
      return Error{ErrorCode::kUsage,
                   "the trace has no times: record log text with -msg timestamp=on, or with the simple back end"};
    case TraceClock::kMonotonic:
    case TraceClock::kOther:
      map.assumed_ = clock == TraceClock::kOther;
      map.start_ns_ = capture.header.start_monotonic_ns;
      return map;
    case TraceClock::kRealtime: break;
  }
  map.own_clock_ = false;
  map.start_ns_ = capture.header.start_realtime_ns;
  map.residual_known_ = capture.trailer.has_value();
  if (!capture.trailer) return map;
  map.span_ns_ = capture.trailer->end_wall_ns;
  const int64_t went_ns = difference(capture.trailer->end_realtime_ns, map.start_ns_);
  const int64_t error_ns = sum(went_ns, -clamp_to_int64(static_cast<double>(map.span_ns_)));
  map.residual_ns_ = error_ns < 0 ? 0 - static_cast<uint64_t>(error_ns) : static_cast<uint64_t>(error_ns);
  if (went_ns > 0 && map.span_ns_ > 0) map.wall_per_stamp_ns_ = static_cast<double>(map.span_ns_) / static_cast<double>(went_ns);
  return map;
}

int64_t ClockMap::wall_ns(uint64_t stamp_ns) const noexcept {
  const int64_t since_ns = difference(stamp_ns, start_ns_);
  if (own_clock_ || wall_per_stamp_ns_ == 1) return since_ns;
  // The correction alone goes through floating point: whole stamps have more digits than it.
  return sum(since_ns, clamp_to_int64(static_cast<double>(since_ns) * (wall_per_stamp_ns_ - 1)));
}

std::string ClockMap::description() const {
  if (own_clock_)
    return assumed_ ? "stamps of an unnamed clock, taken for CLOCK_MONOTONIC (trace_clock mono): check that the spans below make sense"
                    : "both on CLOCK_MONOTONIC: nothing to map";
  if (!residual_known_)
    return "CLOCK_REALTIME stamps through one reading of both clocks: the capture has no end, so the residual is not known";
  return fmt::format("CLOCK_REALTIME stamps through two readings of both clocks, which went {} ns apart over {}.{:09} s", residual_ns_,
                     span_ns_ / 1'000'000'000, span_ns_ % 1'000'000'000);
}

}  // namespace qperf::timeline
