#include "tools/qperf/wall_window.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace qperf::tools {

sched::SpanSet wall_window(const LoadedCapture& capture) {
  const auto& sched = *capture.sched;
  constexpr size_t kMostSpans = size_t{1} << 20;
  std::vector<sched::TimeSpan> spans;
  const sched::SpanSet* before = nullptr;
  for (uint32_t vcpu = 0; vcpu < std::max(sched.survey().vcpus(), 1U); ++vcpu) {
    const sched::SpanSet& of_vcpu = sched.window().of(VcpuIndex{vcpu});
    if (&of_vcpu == before) continue;  // all that have no window of their own share one
    before = &of_vcpu;
    spans.insert(spans.end(), of_vcpu.spans().begin(), of_vcpu.spans().end());
    if (spans.size() < kMostSpans) continue;
    const sched::SpanSet united(std::move(spans));
    spans.assign(united.spans().begin(), united.spans().end());
  }
  const auto& trailer = capture.profile.input.summary.trailer;
  return sched::SpanSet(std::move(spans)).intersect({0, trailer ? trailer->end_wall_ns : UINT64_MAX});
}

}  // namespace qperf::tools
