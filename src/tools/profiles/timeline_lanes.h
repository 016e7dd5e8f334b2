#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "analysis/progress.h"
#include "base/keyed_hash.h"
#include "export/timeline_writer.h"
#include "profile/ids.h"

namespace qperf::tools {

/// The lanes of a picture of time: numbered and declared when they are first used, their slices kept from overlapping.
class TimelineLanes {
 public:
  enum class Kind : uint8_t { kVcpu, kHalts, kDevice, kTask, kPhase, kLostEvents, kLostSamples, kHost };

  /// `progress` is told now and then, with how much is drawn; nullptr: nobody is.
  explicit TimelineLanes(exporter::TimelineWriter& writer, analysis::Progress* progress = nullptr) : writer_(writer), progress_(progress) {}

  /// `name()` gives the lane's name, called if it is new.
  template <typename Name>
  exporter::LaneId lane(Kind kind, uint32_t number, Name&& name) {
    const auto next = static_cast<uint32_t>(ends_ns_.size());
    const auto [position, added] = ids_.try_emplace(static_cast<uint64_t>(kind) << 32 | number, next);
    if (added) {
      ends_ns_.push_back(0);
      writer_.lane(exporter::LaneId{next}, group_of(kind), name());
    }
    return exporter::LaneId{position->second};
  }

  /// Whether draw() would draw any of it.
  [[nodiscard]] bool has_room(const exporter::TimelineSlice& slice) const;
  /// Draws what of the slice lies behind the lane's last one. False: nothing does.
  bool draw(exporter::TimelineSlice slice);
  void draw(const exporter::TimelineInstant& instant) { writer_.instant(instant); }
  void draw(const exporter::TimelineSample& sample) {
    count();
    writer_.sample(sample);
  }

 private:
  static exporter::LaneGroup group_of(Kind kind) noexcept;
  void count() {
    constexpr uint64_t kTold = uint64_t{1} << 12;
    if (++drawn_ % kTold == 0 && progress_ != nullptr) progress_->step("drawing", 0, 0);
  }

  exporter::TimelineWriter& writer_;
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> ids_;
  std::vector<WallNs> ends_ns_;  // by lane
  analysis::Progress* progress_;
  uint64_t drawn_ = 0;
};

}  // namespace qperf::tools
