#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "capture/records.h"

namespace qperf::capture {

/// Keys that are also written after the recording; every other key of Header stands in header_keys.cpp alone.
inline constexpr std::string_view kElfPathKey = "kernel.elf_path";
inline constexpr std::string_view kElfBuildIdKey = "kernel.elf_build_id";

/// QEMU's own trace of the same run; appended when the recording has ended, no part of Header.
inline constexpr std::string_view kTraceFileKey = "qemu.trace_file";
inline constexpr std::string_view kTraceEventsKey = "qemu.trace_events";

/// Of captures that qperf did not record but made of other tools' profiles: a text that says of which. Their weights are samples, whatever
/// mode and rate say.
inline constexpr std::string_view kImportKey = "import.format";
inline constexpr std::string_view kPerfScriptImport = "perf script";  // the only one whose samples have a clock
[[nodiscard]] std::optional<std::string> import_format(const Metadata& metadata);

/// Refuses a header that a reader would refuse: no rate in the mode that needs it, an empty kernel range, too many vCPUs.
[[nodiscard]] Result<void> check_header(const Header& header);

/// All fields as key/value pairs (docs/capture-format.md, "Header keys"). Zero and empty optional fields are left out.
[[nodiscard]] Metadata metadata_of(const Header& header);

/// The inverse. Unknown keys are passed over; a missing required key, a wrong type or a value out of range is an error.
[[nodiscard]] Result<Header> header_of(const Metadata& metadata);

}  // namespace qperf::capture
