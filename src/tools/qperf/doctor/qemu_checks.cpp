#include <fmt/core.h>

#include <algorithm>
#include <utility>

#include "symbols/image.h"
#include "tools/qperf/doctor/doctor.h"
#include "tools/qperf/record/probe.h"
#include "tools/qperf/record/qemu_arguments.h"

namespace qperf::tools {
namespace {

/// The kernel that QEMU boots is another build than the one whose symbols were given.
std::vector<Finding> compare_kernels(const DoctorOptions& options, const QemuArguments& arguments) {
  if (!arguments.kernel || options.elf.empty() || *arguments.kernel == options.elf) return {};
  const auto booted = symbols::Image::open(*arguments.kernel);
  const auto given = symbols::Image::open(options.elf);
  if (!booted || !given)  // a flat image says nothing of where it comes from
    return {{"kernel", Health::kNote,
             *arguments.kernel + " is no ELF: whether it is the build of " + options.elf + " shows when it has run", ""}};
  // Without a build-id nothing tells builds apart before the guest has run.
  for (const auto& [image, path] : {std::pair(&*booted, &*arguments.kernel), std::pair(&*given, &options.elf)})
    if (image->build_id().empty())
      return {{"kernel", Health::kNote,
               fmt::format("{} has no build-id: whether -kernel and -e are the same build shows when it has run", *path), ""}};
  if (std::ranges::equal(booted->build_id(), given->build_id()))
    return {{"kernel", Health::kOk, "-kernel and -e are the same build", ""}};
  return {{"kernel", Health::kFailed,
           fmt::format("-kernel {} and -e {} have different build-ids", *arguments.kernel, options.elf),
           "give the ELF of the kernel that boots"}};
}

}  // namespace

std::vector<Finding> examine_qemu(const DoctorOptions& options, std::string_view target) {
  std::vector<Finding> findings;
  QemuArguments arguments;
  const std::string program = options.command.empty() ? "qemu-system-" + std::string(target) : options.command.front();
  if (!options.command.empty()) {
    arguments = read_qemu_arguments(std::span(options.command).subspan(1));
    const auto allowed = check_can_be_recorded(program, arguments);
    findings.push_back(allowed ? Finding{"arguments", Health::kOk, "nothing speaks against recording with them", ""}
                               : Finding{"arguments", Health::kFailed, allowed.error().message, ""});
  }
  const auto qemu = find_qemu(program);
  if (!qemu) {
    findings.push_back({"qemu", Health::kFailed, qemu.error().message, ""});
    return findings;
  }
  if (!target.empty() && !qemu->target.empty() && qemu->target != target)
    findings.push_back({"target", Health::kFailed,
                        fmt::format("{} runs {} guests, the ELF is for {}", program, qemu->target, target),
                        "give the other ELF or the other QEMU"});
  const auto plugin = find_plugin(options.plugin);
  const auto loaded = plugin ? try_plugin(*qemu, *plugin, {}) : Result<void>(plugin.error());
  findings.push_back(loaded
                         ? Finding{"qemu", Health::kOk, fmt::format("{} {} loads {}", qemu->path, qemu->version, *plugin), ""}
                         : Finding{"qemu", Health::kFailed, loaded.error().message, ""});
  for (Finding& finding : compare_kernels(options, arguments)) findings.push_back(std::move(finding));
  return findings;
}

}  // namespace qperf::tools
