#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"

namespace qperf::sampling {

/// The link-time address of a defined symbol of a 64-bit little-endian ELF file, by its exact name; nullopt: it has none of that
/// name. Reads the file in pieces, so that memory stays below 1 MiB whatever the file claims. An Error as read_build_id().
[[nodiscard]] Result<std::optional<GuestVa>> find_elf_symbol(const std::string& path, std::string_view name);

}  // namespace qperf::sampling
