#include "outputs.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <memory>
#include <system_error>
#include <vector>

#include "export/output_file.h"
#include "tools/profiles/folded_output.h"
#include "tools/profiles/off_cpu_output.h"
#include "tools/profiles/recorded_elf.h"
#include "tools/profiles/speedscope_output.h"

namespace qperf::tools {
namespace {

void write_part(const Options& options, const Profiles& profiles, Part part, exporter::TextSink& sink) {
  if (options.format == Format::kFolded) {
    write_folded_part(profiles, part, options.group_by_cpu ? RootFrames::kByVcpu : RootFrames::kNone, sink);
    return;
  }
  const auto list = options.selection.group_by_task ? ProfileList::kAllTasksAndVcpus
                    : options.group_by_cpu      ? ProfileList::kAllAndVcpus
                                                : ProfileList::kAllOnly;
  const std::string name = std::filesystem::path(options.capture).filename().string();
  exporter::write_speedscope(profiles.names, speedscope_part(profiles, part, list, name), sink);
}

}  // namespace

std::string split_path(const std::string& output, VcpuIndex vcpu) {
  const std::filesystem::path path(output);
  const std::string name = fmt::format("{}.cpu{}{}", path.stem().string(), vcpu.raw, path.extension().string());
  return (path.parent_path() / name).string();
}

namespace {

std::vector<std::string> inputs_of(const Options& options) {
  std::vector<std::string> inputs{options.capture};
  if (options.baseline) inputs.push_back(*options.baseline);
  for (const auto& elf : options.selection.elfs) inputs.push_back(elf.path);
  for (const auto& elf : options.baseline_elfs) inputs.push_back(elf.path);
  return inputs;
}

std::vector<std::string> named_outputs_of(const Options& options) {
  std::vector<std::string> outputs{options.output};
  if (options.off_cpu_output) outputs.push_back(*options.off_cpu_output);
  if (options.sched_output) outputs.push_back(*options.sched_output);
  return outputs;
}

std::filesystem::path normal(const std::string& path) {
  std::error_code failure;
  return std::filesystem::absolute(path, failure).lexically_normal();
}

/// The files whose names the capture decides: they must be neither an input nor another output.
Result<void> check_split_paths(const Options& options, const std::vector<std::string>& paths) {
  QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten(inputs_of(options), paths));
  for (const std::string& output : named_outputs_of(options)) {
    const auto is_output = [&](const std::string& path) { return normal(path) == normal(output); };
    if (std::ranges::none_of(paths, is_output)) continue;
    return Error{ErrorCode::kUsage, fmt::format("{}: named for two outputs: --split-by-cpu writes it, too", output)};
  }
  return {};
}

}  // namespace

Result<void> check_output_is_no_input(const Options& options) {
  return check_no_input_is_overwritten(inputs_of(options), named_outputs_of(options));
}

Result<void> write_outputs(const Options& options, const Profiles& profiles, const analysis::SchedView* sched) {
  std::vector<VcpuIndex> split_vcpus;
  std::vector<std::string> split_paths;
  if (options.split_by_cpu) split_vcpus = profiles.vcpus();
  for (const VcpuIndex vcpu : split_vcpus) split_paths.push_back(split_path(options.output, vcpu));
  QPERF_RETURN_IF_ERROR(check_split_paths(options, split_paths));
  for (const auto* capture : {&profiles.current, profiles.baseline}) {
    if (capture == nullptr) continue;
    QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(capture->input, named_outputs_of(options)));
    QPERF_RETURN_IF_ERROR(check_recorded_elf_is_kept(capture->input, split_paths));
  }
  std::vector<std::unique_ptr<exporter::OutputFile>> files;
  const auto add_file = [&](const std::string& path, const auto& write) -> Result<void> {
    QPERF_ASSIGN_OR_RETURN(auto file, exporter::OutputFile::create(path));
    write(*file);
    QPERF_RETURN_IF_ERROR(file->finish());
    files.push_back(std::move(file));
    return {};
  };
  const auto add = [&](const std::string& path, Part part) {
    return add_file(path, [&](exporter::TextSink& sink) { write_part(options, profiles, part, sink); });
  };
  QPERF_RETURN_IF_ERROR(add(options.output, std::nullopt));
  for (size_t i = 0; i < split_vcpus.size(); ++i) QPERF_RETURN_IF_ERROR(add(split_paths[i], split_vcpus[i]));
  if (sched != nullptr && options.off_cpu_output)
    QPERF_RETURN_IF_ERROR(
        add_file(*options.off_cpu_output, [&](exporter::TextSink& sink) {
          options.format == Format::kFolded ? write_off_cpu_folded(*sched, sink) : write_off_cpu_speedscope(*sched, sink);
        }));
  if (sched != nullptr && options.sched_output)
    QPERF_RETURN_IF_ERROR(
        add_file(*options.sched_output, [&](exporter::TextSink& sink) { sink.write(sched->statistics_json()); }));
  for (const auto& file : files) QPERF_RETURN_IF_ERROR(file->commit());
  return {};
}

}  // namespace qperf::tools
