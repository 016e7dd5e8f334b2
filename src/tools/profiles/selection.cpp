#include "tools/profiles/selection.h"

#include <fmt/core.h>

#include <filesystem>
#include <system_error>
#include <utility>

#include "base/printable.h"
#include "tools/command_line/patterns.h"

namespace qperf::tools {
namespace {

Error usage(std::string message) { return Error{ErrorCode::kUsage, std::move(message)}; }

Result<std::optional<uint64_t>> parse_bound(std::string_view name, const std::string& text) {
  if (text.empty()) return std::optional<uint64_t>();
  const auto value = analysis::parse_unsigned(text);
  if (!value)
    return usage(
        fmt::format("{} '{}': not a whole number from 0 to 2^64 - 1 (decimal, or hex after 0x)", name, printable(text)));
  return std::optional<uint64_t>(*value);
}

}  // namespace

Result<Selection> check_selection(const SelectionText& typed) {
  Selection selection;
  for (const auto& elf : typed.elfs) selection.elfs.push_back(analysis::parse_elf_argument(elf));
  if (!typed.cpu.empty()) {
    auto vcpus = profile::VcpuSet::parse(typed.cpu);
    if (!vcpus) return std::move(vcpus).error().in("--cpu");
    selection.vcpus = *std::move(vcpus);
  }
  QPERF_ASSIGN_OR_RETURN(selection.from, parse_bound("--from", typed.from));
  QPERF_ASSIGN_OR_RETURN(selection.until, parse_bound("--until", typed.until));
  if (!typed.phase.empty()) selection.phase = typed.phase;
  QPERF_ASSIGN_OR_RETURN(selection.occurrence, parse_bound("--phase-occurrence", typed.occurrence));
  if (selection.occurrence && !selection.phase) return usage("--phase-occurrence: there is no --phase");
  if (selection.occurrence == 0U) return usage("--phase-occurrence 0: occurrences count from 1");
  QPERF_ASSIGN_OR_RETURN(selection.task, parse_pattern("--task", typed.task));
  selection.group_by_task = typed.group_by_task;
  if (typed.force) selection.mismatch = analysis::Mismatch::kUseAnyway;
  return selection;
}

analysis::CaptureRequest Selection::capture_request(const std::string& path) const {
  analysis::CaptureRequest request;
  request.path = path;
  request.elfs = elfs;
  request.vcpus = vcpus;
  request.from = from;
  request.until = until;
  request.mismatch = mismatch;
  return request;
}

analysis::SchedRequest Selection::sched_request() const {
  analysis::SchedRequest request;
  request.from = from;
  request.until = until;
  request.vcpus = vcpus;
  request.phase = phase;
  request.occurrence = occurrence;
  request.tasks = task;
  request.group_by_task = group_by_task;
  return request;
}

Result<void> check_no_input_is_overwritten(const std::vector<std::string>& inputs, const std::vector<std::string>& outputs) {
  for (const std::string& input : inputs) {
    for (const std::string& output : outputs) {
      std::error_code missing;
      if (std::filesystem::equivalent(input, output, missing) && !missing)
        return usage(fmt::format("{}: is an input and would be overwritten: give another OUTPUT", output));
    }
  }
  return {};
}

}  // namespace qperf::tools
