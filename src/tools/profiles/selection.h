#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/elf_argument.h"
#include "analysis/image_set.h"
#include "analysis/profile_capture.h"
#include "analysis/sched_view.h"
#include "base/pattern.h"
#include "base/result.h"
#include "profile/filter.h"

namespace qperf::tools {

/// Which part of a capture is looked at and with which ELFs, as typed: an option that was not given is empty.
struct SelectionText {
  std::vector<std::string> elfs;
  std::string cpu;
  std::string from;
  std::string until;
  std::string phase;
  std::string occurrence;
  std::string task;
  bool group_by_task = false;
  bool force = false;
};

/// The same, checked as far as that goes without opening a file.
struct Selection {
  std::vector<analysis::ElfArgument> elfs;
  profile::VcpuSet vcpus;
  std::optional<uint64_t> from;
  std::optional<uint64_t> until;
  std::optional<std::string> phase;
  std::optional<uint64_t> occurrence;
  std::optional<Pattern> task;
  bool group_by_task = false;
  analysis::Mismatch mismatch = analysis::Mismatch::kRefuse;

  /// Some of it needs a capture with the scheduler's events.
  [[nodiscard]] bool needs_events() const noexcept { return group_by_task || phase || task; }
  /// Samples of `path` by this selection, but for what the scheduler's events say.
  [[nodiscard]] analysis::CaptureRequest capture_request(const std::string& path) const;
  [[nodiscard]] analysis::SchedRequest sched_request() const;
};

/// Every failure is a usage error that names the option.
[[nodiscard]] Result<Selection> check_selection(const SelectionText& typed);

/// Refuses an output that is one of the inputs.
[[nodiscard]] Result<void> check_no_input_is_overwritten(const std::vector<std::string>& inputs,
                                                         const std::vector<std::string>& outputs);

}  // namespace qperf::tools
