#include "tools/profiles/matched_frames.h"

#include "report/comparison.h"

namespace qperf::tools {

using profile::FrameId;

std::vector<FrameId> matched_frames(const profile::NamedStacks& names, const std::vector<report::Row>& shown) {
  const report::FrameKeys keys = report::keys_by_stable_name(names.frames);
  std::vector<FrameId> of_key = keys.first_frame;
  std::vector<bool> settled(of_key.size());
  std::vector<bool> seen(names.stacks.size());
  for (const report::Row& row : shown) {
    if (seen[row.stack.raw]) continue;
    seen[row.stack.raw] = true;
    for (const FrameId frame : names.stacks[row.stack]) {
      const uint32_t key = keys.of_frame[frame.raw];
      if (!settled[key]) of_key[key] = frame;
      settled[key] = true;
    }
  }
  std::vector<FrameId> matched;
  for (const uint32_t key : keys.of_frame) matched.push_back(of_key[key]);
  return matched;
}

}  // namespace qperf::tools
