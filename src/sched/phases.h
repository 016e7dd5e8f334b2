#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"
#include "sched/window.h"

namespace qperf::sched {

/// A phase marker as it was seen; `order` ranks marks of one nanosecond.
struct PhaseMark {
  WallNs wall_ns = 0;
  VcpuIndex vcpu;
  uint64_t sequence = 0;
  uint64_t what = 0;  // guest::phase_mark, or anything
  uint64_t name_low = 0;
  uint64_t name_high = 0;
};

/// One occurrence of a phase.
struct Phase {
  std::string name;         // printable
  uint64_t occurrence = 0;  // from 1, by begin, per name
  TimeSpan span;
  bool complete = false;  // false: no end was captured; the span ends with the capture
};

/// More marks than this are counted and left out.
inline constexpr size_t kMaxPhaseMarks = size_t{1} << 17;

/// The phases of a capture, in order of their begins. An end closes the latest open occurrence of its name, so that phases
/// may nest in themselves and overlap others.
class PhaseList {
 public:
  /// `marks` in any order; `end_ns` is the last captured timestamp.
  PhaseList(std::vector<PhaseMark> marks, WallNs end_ns);
  PhaseList() = default;

  [[nodiscard]] const std::vector<Phase>& all() const noexcept { return phases_; }
  [[nodiscard]] uint64_t ends_without_begin() const noexcept { return ends_without_begin_; }
  [[nodiscard]] uint64_t unknown_marks() const noexcept { return unknown_marks_; }

  /// The spans of one occurrence, or of all of a name. Error: it does not exist; the message lists what there is.
  [[nodiscard]] Result<SpanSet> select(const std::string& name, std::optional<uint64_t> occurrence) const;

 private:
  [[nodiscard]] std::string listing() const;

  std::vector<Phase> phases_;
  uint64_t ends_without_begin_ = 0;
  uint64_t unknown_marks_ = 0;
};

/// Which occurrence of a phase is the innermost one at a time: of those that are open, the one that began last.
class InnermostPhases {
 public:
  explicit InnermostPhases(const std::vector<Phase>& phases);

  /// Index into the phases; nullopt: none is open. Asking in ascending order is quickest.
  [[nodiscard]] std::optional<uint32_t> at(WallNs at_ns);

 private:
  static constexpr uint32_t kNone = 0xffffffff;
  struct Step {
    WallNs from_ns;
    uint32_t phase;
  };
  std::vector<Step> steps_{{0, kNone}};  // ascending; each lasts until the next
  size_t last_ = 0;
};

}  // namespace qperf::sched
