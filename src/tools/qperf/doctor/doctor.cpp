#include "tools/qperf/doctor/doctor.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/json_quoted.h"
#include "base/printable.h"
#include "tools/qperf/command.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

struct HealthRow {
  std::string_view name;
  std::string_view colour;
};

const HealthRow& row(Health health) {
  static constexpr HealthRow kRows[] = {
      {"ok", "\x1b[32m"}, {"note", "\x1b[36m"}, {"warning", "\x1b[33m"}, {"failed", "\x1b[31m"}};
  return kRows[static_cast<size_t>(health)];
}

std::string text_of(const std::vector<Finding>& findings) {
  const bool coloured = may_colour(STDOUT_FILENO);
  std::string text;
  for (const Finding& finding : findings) {
    const HealthRow& health = row(finding.health);
    text += fmt::format("{}{:<8}{} {:<15} {}\n", coloured ? health.colour : "", health.name, coloured ? "\x1b[0m" : "",
                        finding.check, printable(finding.found));
    if (!finding.advice.empty()) text += fmt::format("{:<24} -> {}\n", "", printable(finding.advice));
  }
  return text;
}

std::string json_of(const std::vector<Finding>& findings, bool healthy) {
  std::string checks;
  for (const Finding& finding : findings)
    checks += fmt::format("{}{{\"check\": {}, \"health\": {}, \"found\": {}, \"advice\": {}}}", checks.empty() ? "" : ", ",
                          json_quoted(finding.check), json_quoted(row(finding.health).name), json_quoted(finding.found),
                          json_quoted(finding.advice));
  return fmt::format("{{\"format\": \"qperf-doctor\", \"version\": 1, \"healthy\": {}, \"checks\": [{}]}}\n",
                     healthy ? "true" : "false", checks);
}

}  // namespace

int doctor(const DoctorOptions& options) {
  ElfFindings elf;
  if (!options.elf.empty()) elf = examine_elf(options.elf);
  std::vector<Finding>& findings = elf.findings;
  if (!options.command.empty() || !elf.target.empty()) {
    for (Finding& finding : examine_qemu(options, elf.target)) findings.push_back(std::move(finding));
  }
  if (findings.empty())
    return report_error(
        Error{ErrorCode::kUsage, "nothing to examine: give -e KERNEL.elf, or -- qemu-system-ARCH and its arguments, or both"});
  const bool healthy = std::ranges::none_of(findings, [](const Finding& finding) { return finding.health == Health::kFailed; });
  const std::string text = options.json ? json_of(findings, healthy) : text_of(findings);
  const int written = write_out(text);
  return written != kDone ? written : healthy ? kDone : kFailed;
}

}  // namespace qperf::tools
