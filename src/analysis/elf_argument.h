#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace qperf::analysis {

/// An ELF as named on a command line: `PATH` or `PATH@SLIDE`.
struct ElfArgument {
  std::string path;
  /// Bytes that the guest's addresses lie above the link-time ones (modulo 2^64); nullopt: to be found out.
  std::optional<uint64_t> slide_bytes;

  friend bool operator==(const ElfArgument&, const ElfArgument&) = default;
};

/// Splits at the last '@' if a number follows (decimal or 0x hex, a '-' may precede); else all of `text` is the path, so that
/// file names with an '@' work. Never fails: a path that does not exist is told by whoever opens it.
[[nodiscard]] ElfArgument parse_elf_argument(std::string_view text);

/// A whole number, decimal or 0x hex; nullopt for anything else and for what does not fit 64 bits.
[[nodiscard]] std::optional<uint64_t> parse_unsigned(std::string_view text);

}  // namespace qperf::analysis
