#pragma once

#include <cstddef>
#include <span>

#include "guest/target.h"

namespace qperf::symbols {

/// True if the instruction that ends where `before` ends is a call. `before` holds the last bytes in front of the address, up
/// to kMaxCallBytes; fewer at the start of a section.
[[nodiscard]] bool ends_with_call(guest::Target target, std::span<const std::byte> before) noexcept;

/// The longest call instruction that is looked for: x86_64 call through memory with prefix, SIB and 32-bit displacement.
inline constexpr size_t kMaxCallBytes = 8;

}  // namespace qperf::symbols
