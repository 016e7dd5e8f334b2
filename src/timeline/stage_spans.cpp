#include "timeline/stage_spans.h"

#include <algorithm>

namespace qperf::timeline {

RequestSpan span_of(const PlacedRequest& request) noexcept {
  std::optional<RequestSpan> span;
  for (const auto& at : request.at_ns) {
    if (!at) continue;
    if (!span) span = RequestSpan{*at, *at};
    span->to_ns = std::max(span->to_ns, *at);
  }
  return span.value_or(RequestSpan{});
}

std::vector<StageSpan> stage_spans(const PlacedRequest& request) {
  std::vector<StageSpan> spans;
  const int64_t end_ns = span_of(request).to_ns;
  const auto close = [&spans](int64_t at_ns) {
    if (spans.empty()) return;
    spans.back().to_ns = at_ns;
    if (spans.back().from_ns == at_ns) spans.pop_back();
  };
  int64_t last_ns = span_of(request).from_ns;
  for (size_t i = 0; i < qemutrace::kStages; ++i) {
    if (!request.at_ns[i]) continue;
    last_ns = std::max(last_ns, *request.at_ns[i]);
    close(last_ns);
    if (last_ns >= end_ns) return spans;
    spans.push_back({.from = static_cast<qemutrace::Stage>(i), .from_ns = last_ns, .to_ns = end_ns});
  }
  close(end_ns);
  return spans;
}

}  // namespace qperf::timeline
