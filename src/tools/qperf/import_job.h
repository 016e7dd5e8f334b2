#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "analysis/progress.h"
#include "base/result.h"

namespace qperf::tools {

enum class ForeignFormat : uint8_t { kDetect, kPerfScript, kFolded, kOlderCapture };

struct ImportJob {
  std::string input;   // "-": standard input
  std::string output;  // the capture; names go to output + ".elf"
  ForeignFormat format = ForeignFormat::kDetect;
  std::optional<uint64_t> start_monotonic_ns;
  std::string elf;  // of an older capture
  analysis::Progress* progress = nullptr;
};

/// Where the names of a profile go that has no addresses.
[[nodiscard]] inline std::string names_path(const ImportJob& job) { return job.output + ".elf"; }

struct ImportResult {
  std::string summary;  // lines for a person
  std::vector<std::string> warnings;
  bool complete = true;  // false: part of the input was not understood or is missing
};

/// Reads the input and writes the output; nothing is left behind after an error.
[[nodiscard]] Result<ImportResult> run_import(const ImportJob& job);

}  // namespace qperf::tools
