#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/types.h"

namespace qperf::foreign {

/// Where function `index` of a symbol ELF begins; each takes kFunctionBytes.
inline constexpr uint64_t kFunctionBytes = 16;
[[nodiscard]] constexpr GuestVa function_address(uint32_t index) noexcept {
  return GuestVa{0xffffffff80000000 + index * kFunctionBytes};
}

/// More functions are told apart by no import.
inline constexpr uint32_t kMaxFunctions = uint32_t{1} << 20;

/// The bytes that stand at a function: different for each, and no call instruction, so that an address of one is taken for what it
/// is.
[[nodiscard]] std::array<std::byte, kFunctionBytes> function_bytes(uint32_t index) noexcept;

/// A file that gives names to addresses, for profiles that come with names only: an x86_64 ELF whose functions are `names`, in
/// order, with a build-id that depends on them. Names that begin with `$` or `.L` would be taken for the assembler's labels.
struct SymbolElf {
  std::vector<std::byte> bytes;
  std::vector<std::byte> build_id;
};
[[nodiscard]] SymbolElf make_symbol_elf(std::span<const std::string> names);

}  // namespace qperf::foreign
