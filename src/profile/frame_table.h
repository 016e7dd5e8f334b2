#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "base/keyed_hash.h"
#include "profile/ids.h"
#include "profile/sequence_table.h"

namespace qperf::profile {

/// What viewers show as one box: a function, or an address that has no name.
struct Frame {
  std::string name;   // printable, never empty
  std::string file;   // printable; empty: not known
  uint32_t line = 0;  // of the function's declaration; 0: not known
};

/// Distinct frames by name and file. The line is that of the first one seen.
class FrameTable {
 public:
  FrameId intern(const Frame& frame);

  [[nodiscard]] const Frame& operator[](FrameId id) const noexcept { return frames_[id.raw]; }
  [[nodiscard]] size_t size() const noexcept { return frames_.size(); }

 private:
  std::vector<Frame> frames_;
  tsl::robin_map<std::string, uint32_t, KeyedHash, std::equal_to<>> ids_;  // by name, NUL, file
};

/// The named stacks of one or more captures, so that they can be compared by id. Stacks are root first.
struct NamedStacks {
  FrameTable frames;
  SequenceTable<FrameId> stacks;
};

}  // namespace qperf::profile
