#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace qperf {

/// XXH3-64 with seed 0: the checksum of chunks and the hash of interned stacks.
[[nodiscard]] uint64_t xxh3_64(std::span<const std::byte> bytes) noexcept;

}  // namespace qperf
