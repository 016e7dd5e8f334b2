#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>

#include "base/result.h"
#include "base/types.h"

namespace qperf::capture {

struct LegacySummary {
  uint64_t samples = 0;
  bool cut = false;  // the file ends inside a record, or goes on with bytes that are none
};

/// Reads a capture of the older Rust profiler: magic `QPERF\0\x01`, then bincode 2 "standard" records (u32 vCPU, Vec<u64> of
/// addresses, leaf first). `on_sample` gets each whole record in file order; the addresses live until it returns.
[[nodiscard]] Result<LegacySummary> read_legacy_capture(
    const std::string& path, const std::function<Result<void>(VcpuIndex, std::span<const GuestVa>)>& on_sample);

}  // namespace qperf::capture
