#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/elf_argument.h"
#include "base/result.h"
#include "tools/profiles/selection.h"

namespace CLI {
class App;
}

namespace qperf::tools {

enum class Format : uint8_t { kFolded, kSpeedscope };

/// The command line of qperf-analyzer, checked as far as that goes without opening a file.
struct Options {
  std::string capture;
  std::string output;  // "-": stdout
  Selection selection;
  Format format = Format::kFolded;
  bool group_by_cpu = false;
  bool split_by_cpu = false;
  // These need a capture that has scheduler events.
  std::optional<std::string> off_cpu_output;
  std::optional<std::string> sched_output;
  bool wakers = false;
  std::optional<std::string> baseline;
  std::vector<analysis::ElfArgument> baseline_elfs;
  std::optional<std::string> only_print;  // the help or the version: print it and be done

  [[nodiscard]] bool needs_events() const noexcept { return selection.needs_events() || off_cpu_output || sched_output; }
};

/// Gives the parser its options: for its manual page. The values go nowhere.
void declare_options(CLI::App& app);

/// Parses and checks; every failure is a usage error.
[[nodiscard]] Result<Options> parse_options(int argc, const char* const* argv);

}  // namespace qperf::tools
