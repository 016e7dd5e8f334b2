#include "sched/phases.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
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

InnermostPhases::InnermostPhases(const std::vector<Phase>& phases) {
  struct Edge {
    WallNs at_ns;
    uint32_t phase;
    bool begins;
  };
  std::vector<Edge> edges;
  for (uint32_t i = 0; i < phases.size(); ++i) {
    if (phases[i].span.from_ns >= phases[i].span.to_ns) continue;
    edges.push_back({phases[i].span.from_ns, i, true});
    edges.push_back({phases[i].span.to_ns, i, false});
  }
  std::ranges::stable_sort(edges, {}, &Edge::at_ns);
  std::set<uint32_t> open;  // phases are numbered in order of their begins
  for (size_t i = 0; i < edges.size();) {
    const WallNs at_ns = edges[i].at_ns;
    for (; i < edges.size() && edges[i].at_ns == at_ns; ++i) {
      if (edges[i].begins)
        open.insert(edges[i].phase);
      else
        open.erase(edges[i].phase);
    }
    const uint32_t innermost = open.empty() ? kNone : *open.rbegin();
    if (steps_.back().phase != innermost) steps_.push_back({at_ns, innermost});
  }
}

std::optional<uint32_t> InnermostPhases::at(WallNs at_ns) {
  const bool last_holds = steps_[last_].from_ns <= at_ns && (last_ + 1 == steps_.size() || at_ns < steps_[last_ + 1].from_ns);
  if (!last_holds) {
    const auto behind = std::ranges::upper_bound(steps_, at_ns, {}, &Step::from_ns);
    last_ = static_cast<size_t>(behind - steps_.begin()) - 1;
  }
  if (steps_[last_].phase == kNone) return std::nullopt;
  return steps_[last_].phase;
}

}  // namespace qperf::sched
