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
/// A record with a vCPU or a number of addresses beyond limits.h is none.
[[nodiscard]] Result<LegacySummary> read_legacy_capture(
    const std::string& path, const std::function<Result<void>(VcpuIndex, std::span<const GuestVa>)>& on_sample);

/// The same on bytes in memory; `name` for messages.
[[nodiscard]] Result<LegacySummary> read_legacy_capture(
    std::span<const std::byte> bytes, const std::string& name,
    const std::function<Result<void>(VcpuIndex, std::span<const GuestVa>)>& on_sample);

}  // namespace qperf::capture
