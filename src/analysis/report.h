#pragma once

#include <optional>
#include <string>
#include <vector>

#include "analysis/message.h"
#include "analysis/profile_capture.h"

namespace qperf::analysis {

/// "qperf.bin: riscv64, wall at 99 Hz, 2 vCPUs, 1.500 s".
[[nodiscard]] std::string headline(const CaptureInput& input);

/// "selected: 15 of 20 samples, ...".
[[nodiscard]] std::string selection_line(const CaptureProfile& profile);

/// Sums over the given vCPUs of a ledger.
[[nodiscard]] capture::Ticks sum_of_ticks(const capture::Ledger& ledger, const profile::VcpuSet& vcpus);

/// What was read, selected and lost, as lines of text without line breaks, for a person.
[[nodiscard]] std::vector<std::string> report_lines(const CaptureProfile& profile);

/// A warning for each thing that weakens the result: losses, damage, missing stacks, unknown addresses, an empty selection.
[[nodiscard]] Messages weaknesses(const CaptureProfile& profile);

/// What is damaged, cut or missing in the file at `path`; nullopt: nothing.
[[nodiscard]] std::optional<Message> damage_in(const std::string& path, const capture::Integrity& integrity);

/// Why two captures cannot be compared fully: other vCPUs, other arguments, another machine.
[[nodiscard]] Messages differences_between(const CaptureInput& before, const CaptureInput& after);

}  // namespace qperf::analysis
