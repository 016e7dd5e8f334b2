#include "tools/qperf/with_host.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "analysis/capture_input.h"
#include "base/printable.h"
#include "capture/header_keys.h"
#include "symbols/image.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/wall_window.h"

namespace qperf::tools {
namespace {

Result<void> check_belongs(const std::string& path, const analysis::CaptureInput& host, const analysis::CaptureInput& guest) {
  const auto format = host.legacy ? std::nullopt : capture::import_format(host.summary.metadata);
  if (format != capture::kPerfScriptImport)
    return Error{ErrorCode::kUsage,
                 fmt::format("--with-host {}: {}: give what `qperf import --beside {}` made of the text of perf script", path,
                             format ? fmt::format("was imported from {}, which has no clock", printable(*format)) : "is no profile of the host",
                             guest.path)};
  if (host.summary.header.mode != guest::Mode::kWall)
    return Error{ErrorCode::kBadFormat, fmt::format("--with-host {}: its samples have no clock: import it anew", path)};
  if (host.summary.header.start_monotonic_ns != guest.summary.header.start_monotonic_ns)
    return Error{ErrorCode::kUsage, fmt::format("--with-host {}: its time does not begin with that of {}: import it with --beside {}", path,
                                                guest.path, guest.path)};
  return {};
}

/// The import names the file of its names as it was typed: where that leads nowhere from here, it still lies beside the capture.
Result<std::vector<std::string>> elfs_of(const std::string& path, const analysis::CaptureInput& host) {
  std::error_code failure;
  if (std::filesystem::exists(host.summary.header.elf_path, failure)) return std::vector<std::string>();
  std::string beside = path + ".elf";
  if (std::filesystem::exists(beside, failure)) {
    QPERF_ASSIGN_OR_RETURN(const auto image, symbols::Image::open(beside));
    if (std::ranges::equal(image.build_id(), host.summary.header.elf_build_id)) return std::vector<std::string>{std::move(beside)};
  }
  return Error{ErrorCode::kIo, fmt::format("--with-host {}: the file of its names is not at {}, and {} is missing or another: it is made by the import and "
                                           "belongs beside the capture",
                                           path, printable(host.summary.header.elf_path), beside)};
}

}  // namespace

void add_with_host_option(CLI::App& command, std::string& path) {
  command
      .add_option("--with-host", path,
                  "lanes and stacks of the host's threads too: what `qperf import --beside FILE` made of perf's samples: perfetto, chrome, html")
      ->type_name("HOST");
}

Result<std::unique_ptr<WithHost>> load_with_host(const std::string& path, const LoadedCapture& guest, profile::NamedStacks& names) {
  if (path.empty()) return std::unique_ptr<WithHost>();
  const analysis::CaptureInput& of_guest = guest.profile.input;
  if (of_guest.legacy)
    return Error{ErrorCode::kUsage, fmt::format("--with-host: {} is a capture of the older format, which has no clock", of_guest.path)};
  CaptureOptions options;
  options.path = path;
  {
    QPERF_ASSIGN_OR_RETURN(const auto surveyed, analysis::survey_capture(path));
    QPERF_RETURN_IF_ERROR(check_belongs(path, surveyed, of_guest));
    QPERF_ASSIGN_OR_RETURN(options.selection.elfs, elfs_of(path, surveyed));
  }
  QPERF_ASSIGN_OR_RETURN(auto host, load_capture(options, {.access = analysis::SampleAccess::kAgain, .replay_if_events = true}, names));
  auto found = std::make_unique<WithHost>(std::filesystem::path(path).filename().string(), std::move(host), wall_window(guest));
  print_warnings(found->capture, path);
  QPERF_RETURN_IF_ERROR(found->view.survey());
  if (const auto [inside, outside] = std::pair(found->view.inside, found->view.outside); outside > 0)
    report_warning(fmt::format("{}: {} of its {} samples are not drawn: they lie outside of the window of {}{}", printable(path), outside,
                               inside + outside, printable(of_guest.path),
                               inside == 0 ? ": was perf record run with -k CLOCK_MONOTONIC, while the guest ran?" : ""));
  return found;
}

}  // namespace qperf::tools
