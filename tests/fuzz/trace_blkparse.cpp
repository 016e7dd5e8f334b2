#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>

#include "qemutrace/blkparse.h"
#include "qemutrace/layers.h"

/// Any bytes as blkparse's text, and its requests as two layers: every request of the upper one has one fate.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf::qemutrace;
  const BlkTrace trace = parse_blkparse({reinterpret_cast<const char*>(data), size});
  Layer upper{.name = "upper", .requests = {}};
  Layer lower{.name = "lower", .requests = {}};
  for (const BlkEvent& event : trace.events) {
    if (!event.has_extent || event.sectors == 0 || event.sector + event.sectors < event.sector) std::abort();
    Layer& layer = event.action == 'D' ? lower : upper;
    layer.requests.push_back({event.time_ns, event.is_write, event.sector, event.sectors});
  }
  for (const int64_t offset : {int64_t{0}, int64_t{2048}, INT64_MIN}) {
    const LayerMatch match = match_layers(upper, lower, offset == 0 ? LayerClocks::kOne : LayerClocks::kTwo, offset);
    if (match.same + match.joined + match.split + match.missing != upper.requests.size()) std::abort();
    if (match.extra > lower.requests.size() || match.delays_ns.size() != match.same) std::abort();
  }
  const LayerPattern pattern(upper);
  if (pattern.reads + pattern.writes != upper.requests.size()) std::abort();
  return 0;
}
