#include "outputs.h"

#include <fmt/core.h>

#include <filesystem>
#include <memory>
#include <vector>

#include "export/output_file.h"
#include "folded_output.h"
#include "speedscope_output.h"

namespace qperf::tools {
namespace {

void write_part(const Options& options, const Profiles& profiles, Part part, exporter::TextSink& sink) {
  if (options.format == Format::kFolded) {
    write_folded_part(profiles, part, options.group_by_cpu ? RootFrames::kByVcpu : RootFrames::kNone, sink);
    return;
  }
  const auto list = options.group_by_cpu ? ProfileList::kAllAndVcpus : ProfileList::kAllOnly;
  const std::string name = std::filesystem::path(options.capture).filename().string();
  exporter::write_speedscope(profiles.names, speedscope_part(profiles, part, list, name), sink);
}

}  // namespace

std::string split_path(const std::string& output, VcpuIndex vcpu) {
  const std::filesystem::path path(output);
  const std::string name = fmt::format("{}.cpu{}{}", path.stem().string(), vcpu.raw, path.extension().string());
  return (path.parent_path() / name).string();
}

Result<void> check_output_is_no_input(const Options& options) {
  std::vector<std::string> inputs{options.capture};
  if (options.baseline) inputs.push_back(*options.baseline);
  for (const auto& elf : options.elfs) inputs.push_back(elf.path);
  for (const auto& elf : options.baseline_elfs) inputs.push_back(elf.path);
  for (const std::string& input : inputs) {
    std::error_code missing;
    if (std::filesystem::equivalent(input, options.output, missing) && !missing)
      return Error{ErrorCode::kUsage,
                   fmt::format("{}: is an input and would be overwritten: give another OUTPUT", options.output)};
  }
  return {};
}

Result<void> write_outputs(const Options& options, const Profiles& profiles) {
  std::vector<std::unique_ptr<exporter::OutputFile>> files;
  const auto add = [&](const std::string& path, Part part) -> Result<void> {
    QPERF_ASSIGN_OR_RETURN(auto file, exporter::OutputFile::create(path));
    write_part(options, profiles, part, *file);
    QPERF_RETURN_IF_ERROR(file->finish());
    files.push_back(std::move(file));
    return {};
  };
  QPERF_RETURN_IF_ERROR(add(options.output, std::nullopt));
  if (options.split_by_cpu)
    for (const VcpuIndex vcpu : profiles.vcpus()) QPERF_RETURN_IF_ERROR(add(split_path(options.output, vcpu), vcpu));
  for (const auto& file : files) QPERF_RETURN_IF_ERROR(file->commit());
  return {};
}

}  // namespace qperf::tools
