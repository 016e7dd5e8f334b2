#include "sched/loss_spans.h"

#include <algorithm>

namespace qperf::sched {

void LossSpans::append(std::vector<Span>& spans, Span span) {
  if (!spans.empty() && (span.from_ns <= spans.back().to_ns || spans.size() == kMaxSpans)) {
    spans.back().to_ns = std::max(spans.back().to_ns, span.to_ns);
    return;
  }
  spans.push_back(span);
}

void LossSpans::add(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) {
  // Two events of one nanosecond with a loss between them: the span must not be empty, or nothing could touch it.
  append(of_vcpu_[vcpu], {from_ns, std::max(to_ns, from_ns == UINT64_MAX ? from_ns : from_ns + 1)});
}

void LossSpans::seal() {
  std::vector<Span> every;
  for (const auto& [vcpu, spans] : of_vcpu_) every.insert(every.end(), spans.begin(), spans.end());
  std::ranges::sort(every, {}, &Span::from_ns);
  all_.clear();
  for (const Span& span : every) {
    if (!all_.empty() && span.from_ns <= all_.back().to_ns) {
      all_.back().to_ns = std::max(all_.back().to_ns, span.to_ns);
    } else {
      all_.push_back(span);
    }
  }
}

bool LossSpans::any_touches(const std::vector<Span>& spans, WallNs from_ns, WallNs to_ns) noexcept {
  // The first span that ends behind from_ns: spans are disjoint and ascending, so no other can touch if it does not.
  const auto it = std::ranges::upper_bound(spans, from_ns, {}, &Span::to_ns);
  return it != spans.end() && it->from_ns < to_ns;
}

bool LossSpans::touches(WallNs from_ns, WallNs to_ns) const noexcept { return any_touches(all_, from_ns, to_ns); }

bool LossSpans::touches(VcpuIndex vcpu, WallNs from_ns, WallNs to_ns) const noexcept {
  if (of_vcpu_.empty()) return false;
  const auto found = of_vcpu_.find(vcpu);
  return found != of_vcpu_.end() && any_touches(found->second, from_ns, to_ns);
}

}  // namespace qperf::sched
