#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace qperf::symbols {

/// Functions inside functions are rare (GNU C's nested ones): looked for only where an address was not found without.
enum class Descend : uint8_t { kNamespaces, kFunctionsToo };

/// Offsets in .debug_info of the functions with code in the unit whose header starts at `unit_offset`, in file order. Most of a
/// kernel's DIEs are types; they are only stepped over here, which libdw does at a fifth of the speed. nullopt: something that
/// is not understood (a form, a code, a damaged unit); libdw decides then. The bytes are untrusted.
[[nodiscard]] std::optional<std::vector<uint64_t>> scan_functions(std::span<const std::byte> debug_info,
                                                                  std::span<const std::byte> debug_abbrev, uint64_t unit_offset,
                                                                  Descend descend);

/// True for the tags of DIEs that functions stand in at the top of a unit.
[[nodiscard]] bool holds_functions(int tag) noexcept;

}  // namespace qperf::symbols
