#include "tools/qperf/wall_window.h"

#include <algorithm>
#include <utility>
#include <vector>

namespace qperf::tools {

sched::SpanSet wall_window(const LoadedCapture& capture) {
  const auto& sched = *capture.sched;
  std::vector<sched::TimeSpan> spans;
  for (uint32_t vcpu = 0; vcpu < std::max(sched.survey().vcpus(), 1U); ++vcpu) {
    const auto of_vcpu = sched.window().of(VcpuIndex{vcpu}).spans();
    spans.insert(spans.end(), of_vcpu.begin(), of_vcpu.end());
  }
  const auto& trailer = capture.profile.input.summary.trailer;
  return sched::SpanSet(std::move(spans)).intersect({0, trailer ? trailer->end_wall_ns : UINT64_MAX});
}

}  // namespace qperf::tools
