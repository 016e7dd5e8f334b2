#include "sched/phases.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/printable.h"
#include "guest/trace_events.h"

namespace qperf::sched {
namespace {

/// Enough to choose from; a guest may have made thousands.
constexpr size_t kMostListedNames = 32;

}  // namespace

PhaseList::PhaseList(std::vector<PhaseMark> marks, WallNs end_ns) {
  std::ranges::sort(marks, {}, [](const PhaseMark& mark) { return std::tuple(mark.wall_ns, mark.vcpu, mark.sequence); });
  struct Name {
    uint64_t occurrences = 0;
    std::vector<size_t> open;
  };
  std::map<std::string, Name> names;
  for (const PhaseMark& mark : marks) {
    std::string text = printable(guest::trace_name(mark.name_low, mark.name_high));
    Name& name = names[text];
    if (mark.what == guest::phase_mark::kBegin) {
      name.open.push_back(phases_.size());
      phases_.push_back({std::move(text), ++name.occurrences, {mark.wall_ns, std::max(mark.wall_ns, end_ns)}, false});
    } else if (mark.what != guest::phase_mark::kEnd) {
      ++unknown_marks_;
    } else if (name.open.empty()) {
      ++ends_without_begin_;
    } else {
      phases_[name.open.back()].span.to_ns = mark.wall_ns;
      phases_[name.open.back()].complete = true;
      name.open.pop_back();
    }
  }
}

std::string PhaseList::listing() const {
  if (phases_.empty()) return "the capture has no phases";
  std::map<std::string, uint64_t> counts;
  for (const Phase& phase : phases_) ++counts[phase.name];
  std::string text = "the capture has: ";
  size_t listed = 0;
  for (const auto& [name, count] : counts) {
    if (listed == kMostListedNames) return text + fmt::format(" and {} more", counts.size() - listed);
    text += fmt::format("{}{} ({} occurrence{})", listed++ == 0 ? "" : ", ", name, count, count == 1 ? "" : "s");
  }
  return text;
}

Result<SpanSet> PhaseList::select(const std::string& name, std::optional<uint64_t> occurrence) const {
  std::vector<TimeSpan> spans;
  bool exists = false;
  for (const Phase& phase : phases_) {
    if (phase.name != name) continue;
    exists = true;
    if (!occurrence || *occurrence == phase.occurrence) spans.push_back(phase.span);
  }
  if (!exists) return Error{ErrorCode::kNotFound, fmt::format("no phase `{}`: {}", printable(name), listing())};
  if (spans.empty()) return Error{ErrorCode::kNotFound, fmt::format("phase `{}` has no occurrence {}: {}", name, *occurrence, listing())};
  return SpanSet(std::move(spans));
}

}  // namespace qperf::sched
