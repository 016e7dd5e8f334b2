#include "tools/profiles/timeline_lanes.h"

#include <algorithm>

namespace qperf::tools {

bool TimelineLanes::has_room(const exporter::TimelineSlice& slice) const {
  return std::max(slice.from_ns, ends_ns_[slice.lane.raw]) < slice.to_ns;
}

bool TimelineLanes::draw(exporter::TimelineSlice slice) {
  count();
  if (!has_room(slice)) return false;
  WallNs& end_ns = ends_ns_[slice.lane.raw];
  slice.from_ns = std::max(slice.from_ns, end_ns);
  end_ns = slice.to_ns;
  writer_.slice(slice);
  return true;
}

exporter::LaneGroup TimelineLanes::group_of(Kind kind) noexcept {
  switch (kind) {
    case Kind::kVcpu:
    case Kind::kHalts: return exporter::LaneGroup::kVcpu;
    case Kind::kDevice: return exporter::LaneGroup::kDevice;
    case Kind::kTask: return exporter::LaneGroup::kTask;
    case Kind::kPhase: return exporter::LaneGroup::kPhase;
    case Kind::kLostEvents:
    case Kind::kLostSamples: return exporter::LaneGroup::kLoss;
    case Kind::kHost: return exporter::LaneGroup::kHost;
  }
  return exporter::LaneGroup::kLoss;
}

}  // namespace qperf::tools
