#pragma once

#include <string>
#include <string_view>

namespace qperf::symbols {

/// The source-level name behind a linkage name: Rust v0, Rust legacy (its hash dropped) and C++ are demangled, anything else
/// is returned as it is. Suffixes that a compiler adds to the copies it makes of one source function (`.llvm.N`, `.isra.N`,
/// `.constprop.N`, `.part.N`, `.lto_priv.N`, `.cold`, `.cold.N`) are dropped: DWARF names such copies without them too, so one
/// function keeps one name however it was found. Untrusted: input and output are bounded, and a name beyond a bound or one that
/// does not demangle stays raw.
[[nodiscard]] std::string demangle(std::string_view linkage);

/// `linkage` without those suffixes.
[[nodiscard]] std::string_view without_clone_suffix(std::string_view linkage) noexcept;

}  // namespace qperf::symbols
