#include "timeline/wait_sums.h"

#include <algorithm>

namespace qperf::timeline {

void WaitSums::add(const SplitWait& split) {
  for (size_t i = 0; i < parts.size(); ++i) parts[i].add(split.parts_ns[i]);
  blocked.add(split.wait->blocked_ns());
  total.add(split.wait->total_ns());
}

void WaitTrust::add(const SplitWait& split) {
  ++matched;
  by_sector += split.by_sector ? 1 : 0;
  host_unknown += split.host_known ? 0 : 1;
  doubtful += split.request->request.loss_in_span || !split.wait->certain ? 1 : 0;
  contradictions += split.contradiction_ns > 0 ? 1 : 0;
  worst_contradiction_ns = std::max(worst_contradiction_ns, split.contradiction_ns);
}

}  // namespace qperf::timeline
