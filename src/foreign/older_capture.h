#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "base/result.h"
#include "capture/writer.h"
#include "guest/target.h"

namespace qperf::foreign {

/// What a capture of the older format does not say about itself.
struct OlderCaptureOptions {
  guest::Target target = guest::Target::kRiscv64;
  std::string elf_path;
  std::vector<std::byte> elf_build_id;
};

struct OlderCaptureSummary {
  uint64_t samples = 0;          // written
  uint64_t without_address = 0;  // left out: the recorder knew nothing of them
  bool cut = false;              // the file ends inside a record
};

/// Writes the older capture at `path` as one of format version 5. Its samples have no clock: all are at 0, with weight 1.
[[nodiscard]] Result<OlderCaptureSummary> convert_older_capture(const std::string& path, const OlderCaptureOptions& options,
                                                                capture::ByteSink& sink);

}  // namespace qperf::foreign
