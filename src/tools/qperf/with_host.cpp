#include "tools/qperf/with_host.h"

#include <fmt/core.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <utility>

#include "analysis/capture_input.h"
#include "base/printable.h"
#include "capture/header_keys.h"
#include "tools/qperf/wall_window.h"

namespace qperf::tools {
namespace {

constexpr std::string_view kWithClock = "perf script";

Result<void> check_belongs(const std::string& path, const analysis::CaptureInput& host, const analysis::CaptureInput& guest) {
  const auto format = host.legacy ? std::nullopt : capture::import_format(host.summary.metadata);
  if (format != kWithClock)
    return Error{ErrorCode::kUsage,
                 fmt::format("--with-host {}: {}: give what `qperf import --beside {}` made of the text of perf script", path,
                             format ? fmt::format("was imported from {}, which has no clock", printable(*format)) : "is no profile of the host",
                             guest.path)};
  if (host.summary.header.start_monotonic_ns != guest.summary.header.start_monotonic_ns)
    return Error{ErrorCode::kUsage, fmt::format("--with-host {}: its time does not begin with that of {}: import it with --beside {}", path,
                                                guest.path, guest.path)};
  return {};
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
  {
    QPERF_ASSIGN_OR_RETURN(const auto surveyed, analysis::survey_capture(path));
    QPERF_RETURN_IF_ERROR(check_belongs(path, surveyed, of_guest));
  }
  CaptureOptions options;
  options.path = path;
  QPERF_ASSIGN_OR_RETURN(auto host, load_capture(options, {.access = analysis::SampleAccess::kAgain, .replay_if_events = true}, names));
  print_warnings(host);
  return std::make_unique<WithHost>(std::filesystem::path(path).filename().string(), std::move(host), wall_window(guest));
}

}  // namespace qperf::tools
