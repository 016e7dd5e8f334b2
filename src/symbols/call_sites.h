#pragma once

#include <cstddef>
#include <optional>
#include <span>

#include "base/types.h"
#include "guest/target.h"

namespace qperf::symbols {

/// True if the instruction that ends where `before` ends is a call. `before` holds the last bytes in front of the address, up
/// to kMaxCallBytes; fewer at the start of a section.
[[nodiscard]] bool ends_with_call(guest::Target target, std::span<const std::byte> before) noexcept;

/// Where the call that ends at `address` goes, if it is a direct one (or a pair that computes its target and calls it); nullopt
/// otherwise. `before` as above.
[[nodiscard]] std::optional<GuestVa> direct_call_target(guest::Target target, std::span<const std::byte> before,
                                                        GuestVa address) noexcept;

/// The longest call instruction that is looked for: x86_64 call through memory with prefix, SIB and 32-bit displacement; and
/// the pairs of riscv64 and loongarch64.
inline constexpr size_t kMaxCallBytes = 8;

}  // namespace qperf::symbols
