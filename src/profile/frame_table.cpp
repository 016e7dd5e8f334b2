#include "profile/frame_table.h"

namespace qperf::profile {

FrameId FrameTable::intern(const Frame& frame) {
  std::string key;
  key.reserve(frame.name.size() + 1 + frame.file.size());
  key += frame.name;
  key += '\0';
  key += frame.file;
  const auto [position, added] = ids_.try_emplace(std::move(key), static_cast<uint32_t>(frames_.size()));
  if (added) frames_.push_back(frame);
  return FrameId{position->second};
}

}  // namespace qperf::profile
