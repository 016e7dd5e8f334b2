#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/elf_argument.h"
#include "analysis/image_set.h"
#include "base/result.h"
#include "profile/filter.h"

namespace qperf::tools {

enum class Format : uint8_t { kFolded, kSpeedscope };

/// What is asked for of the scheduler's events; all of it needs a capture that has some.
struct SchedOptions {
  bool group_by_task = false;
  std::optional<std::string> phase;
  std::optional<uint64_t> occurrence;
  std::optional<std::string> task;
  std::optional<std::string> off_cpu_output;
  std::optional<std::string> sched_output;
  bool wakers = false;

  [[nodiscard]] bool any() const noexcept { return group_by_task || phase || task || off_cpu_output || sched_output; }
};

/// The command line of qperf-analyzer, checked as far as that goes without opening a file.
struct Options {
  std::string capture;
  std::string output;  // "-": stdout
  std::vector<analysis::ElfArgument> elfs;
  Format format = Format::kFolded;
  profile::VcpuSet vcpus;
  std::optional<uint64_t> from;
  std::optional<uint64_t> until;
  bool group_by_cpu = false;
  bool split_by_cpu = false;
  SchedOptions sched;
  std::optional<std::string> baseline;
  std::vector<analysis::ElfArgument> baseline_elfs;
  analysis::Mismatch mismatch = analysis::Mismatch::kRefuse;
  std::optional<std::string> only_print;  // the help or the version: print it and be done
};

/// Parses and checks; every failure is a usage error.
[[nodiscard]] Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace qperf::tools
