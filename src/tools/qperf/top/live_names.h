#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/image_set.h"
#include "analysis/naming.h"
#include "analysis/stack_rules.h"
#include "base/result.h"
#include "profile/frame_table.h"

namespace qperf::tools {

/// Names the sites of a running guest; what was named once stays named.
class LiveNames {
 public:
  LiveNames(std::string path, std::vector<analysis::ElfArgument> elfs) : path_(std::move(path)), elfs_(std::move(elfs)) {}

  /// Frames of a site, leaf first. Valid until the next call; empty before prepare() worked.
  using Stack = std::vector<profile::FrameId>;

  /// Opens the ELFs. Code fingerprints tell where a slid kernel lies: as long as there are too few of them, every call looks
  /// again.
  Result<void> prepare();
  /// Announces sites, so that all their addresses are named at once; call name_pending() before frames().
  [[nodiscard]] size_t add(const capture::Site& site, WallNs wall_ns);
  Result<void> name_pending();
  void frames(size_t stack, Stack& out) const;
  [[nodiscard]] const profile::Frame& frame(profile::FrameId id) const noexcept { return frames_[id]; }
  [[nodiscard]] size_t frame_count() const noexcept { return frames_.size(); }
  /// Forgets the stacks: they are those of one snapshot. Names stay, up to more than any kernel has.
  void clear_stacks();

 private:
  void clear_names();

  std::string path_;
  std::vector<analysis::ElfArgument> elfs_;
  size_t fingerprints_ = 0;
  GuestRange kernel_range_ = guest::kDefaultKernelRange;
  std::optional<analysis::ImageSet> images_;
  std::unique_ptr<analysis::LookupTable> lookups_;
  std::optional<analysis::StackRules> rules_;
  std::vector<analysis::NamedLookup> named_;  // by lookup
  profile::FrameTable frames_;
  std::vector<std::vector<analysis::LookupId>> stacks_;
};

}  // namespace qperf::tools
