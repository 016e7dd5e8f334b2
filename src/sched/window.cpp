#include "sched/window.h"

#include <algorithm>

namespace qperf::sched {

SpanSet::SpanSet(std::vector<TimeSpan> spans) {
  std::erase_if(spans, [](const TimeSpan& span) { return span.from_ns >= span.to_ns; });
  std::ranges::sort(spans, {}, &TimeSpan::from_ns);
  for (const TimeSpan& span : spans) {
    if (!spans_.empty() && span.from_ns <= spans_.back().to_ns) {
      spans_.back().to_ns = std::max(spans_.back().to_ns, span.to_ns);
    } else {
      spans_.push_back(span);
    }
  }
  uint64_t held = 0;
  held_before_.reserve(spans_.size());
  for (const TimeSpan& span : spans_) {
    held_before_.push_back(held);
    held += span.to_ns - span.from_ns;
  }
}

/// How much of [0, at_ns) the spans hold.
uint64_t SpanSet::before(WallNs at_ns) const noexcept {
  const auto behind = std::ranges::upper_bound(spans_, at_ns, {}, &TimeSpan::from_ns);
  if (behind == spans_.begin()) return 0;
  const auto index = static_cast<size_t>(behind - spans_.begin()) - 1;
  return held_before_[index] + (std::min(at_ns, spans_[index].to_ns) - spans_[index].from_ns);
}

uint64_t SpanSet::overlap_ns(WallNs from_ns, WallNs to_ns) const noexcept {
  // One span is the usual case, and this is asked for each interval.
  if (spans_.size() == 1) {
    const WallNs first = std::max(from_ns, spans_.front().from_ns);
    const WallNs last = std::min(to_ns, spans_.front().to_ns);
    return first < last ? last - first : 0;
  }
  return from_ns < to_ns ? before(to_ns) - before(from_ns) : 0;
}

bool SpanSet::contains(WallNs at_ns) const noexcept {
  const auto behind = std::ranges::upper_bound(spans_, at_ns, {}, &TimeSpan::from_ns);
  return behind != spans_.begin() && at_ns < std::prev(behind)->to_ns;
}

SpanSet SpanSet::intersect(TimeSpan other) const {
  std::vector<TimeSpan> cut;
  for (const TimeSpan& span : spans_) cut.push_back({std::max(span.from_ns, other.from_ns), std::min(span.to_ns, other.to_ns)});
  return SpanSet(std::move(cut));
}

}  // namespace qperf::sched
