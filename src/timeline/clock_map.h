#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "base/types.h"
#include "capture/reader.h"
#include "qemutrace/source.h"

namespace qperf::timeline {

/// Places the stamps of a QEMU trace on a capture's clock, wall ns since plugin load.
///
/// simpletrace stamps with the capture's own clock. Log text has CLOCK_REALTIME, whose value the capture holds for its start and
/// its end: between them the map is a straight line, and by how much both clocks went apart is the map's residual. Stamps are
/// signed here: what QEMU did before it loaded the plugin lies below 0.
class ClockMap {
 public:
  /// An Error: the trace has no stamps, or of a clock that says nothing about the capture's time.
  static Result<ClockMap> make(const capture::Summary& capture, qemutrace::TraceClock clock);

  [[nodiscard]] int64_t wall_ns(uint64_t stamp_ns) const noexcept;

  /// How far a mapped stamp can be off because both clocks did not run alike: 0 for the capture's own clock.
  [[nodiscard]] uint64_t residual_ns() const noexcept { return residual_ns_; }
  /// False: the capture has no end (it was cut), so that the residual is not known.
  [[nodiscard]] bool residual_known() const noexcept { return residual_known_; }
  /// "log stamps through two readings of both clocks: they went 812 ns apart over 1.500000000 s".
  [[nodiscard]] std::string description() const;

 private:
  bool own_clock_ = true;
  bool assumed_ = false;  // the trace does not say which clock it has
  bool residual_known_ = true;
  uint64_t start_ns_ = 0;          // of the trace's clock at wall ns 0
  double wall_per_stamp_ns_ = 1;
  uint64_t span_ns_ = 0;
  uint64_t residual_ns_ = 0;
};

}  // namespace qperf::timeline
