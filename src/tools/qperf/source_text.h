#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace qperf::tools {

/// The lines of a source file, printable, tabs as blanks. Looked for under `folder` (if given) and where the ELF says; nullopt if it is
/// not there, is no regular file or larger than 16 MiB. `file` comes from the ELF: untrusted.
[[nodiscard]] std::optional<std::vector<std::string>> source_lines(const std::string& folder, const std::string& file);

}  // namespace qperf::tools
