#include "tools/qperf/with_trace.h"

#include <fmt/core.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <utility>
#include <variant>

#include "base/printable.h"
#include "capture/header_keys.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"
#include "tools/qperf/wall_window.h"

namespace qperf::tools {
namespace {

Result<std::string> path_of(const WithTraceText& text, const analysis::CaptureInput& capture) {
  if (text.file != kRecordedTrace) return text.file;
  if (auto recorded = recorded_trace(capture.path, capture.summary.metadata)) return *std::move(recorded);
  return Error{ErrorCode::kUsage,
               fmt::format("--with-trace {}: {} names no trace of QEMU's: record with --trace-events, or give the trace's file "
                           "(./{} if it is called so)",
                           kRecordedTrace, capture.path, kRecordedTrace)};
}

}  // namespace

void add_with_trace_options(CLI::App& command, WithTraceText& text, const std::string& what) {
  command
      .add_option("--with-trace", text.file,
                  what + fmt::format("; {}: the one that the capture names (record --trace-events)", kRecordedTrace))
      ->type_name("TRACE");
  command.add_option("--events", text.events, "with --with-trace: trace-events-all of the QEMU that wrote it [the installed one]")
      ->type_name("FILE");
}

Result<void> check_with_trace(const WithTraceText& text) {
  if (!text.given() && !text.events.empty()) return Error{ErrorCode::kUsage, "--events: there is no --with-trace"};
  return {};
}

std::optional<std::string> recorded_trace(const std::string& capture_path, const capture::Metadata& metadata) {
  const auto found = metadata.find(std::string(capture::kTraceFileKey));
  if (found == metadata.end()) return std::nullopt;
  const auto* name = std::get_if<std::string>(&found->second);
  if (name == nullptr || name->empty()) return std::nullopt;
  return (std::filesystem::path(capture_path).parent_path() / *name).string();  // an absolute name stays as it is
}

int WithTrace::conclude() const {
  const timeline::DeviceTrace& trace = traced.trace;
  if (trace.too_late > 0) report_warning(fmt::format("{} records were too far out of order to be put in their place", trace.too_late));
  if (trace.left_out > 0) report_warning(fmt::format("{} requests of the trace were left out: too many", trace.left_out));
  return tools::conclude(trace.report);
}

Result<timeline::DiskWaits> load_disk_waits(const std::string& path) {
  ProgressLine progress(path, STDERR_FILENO);
  return timeline::read_disk_waits(path, analysis::progress_of(&progress, "reading waits"));
}

Result<std::unique_ptr<WithTrace>> load_with_trace(const WithTraceText& text, const LoadedCapture& capture) {
  if (!text.given()) return std::unique_ptr<WithTrace>();
  const analysis::CaptureInput& input = capture.profile.input;
  if (input.legacy)
    return Error{ErrorCode::kUsage, fmt::format("--with-trace: {} is a capture of the older format, which has no clock", input.path)};
  TraceOptions options;
  QPERF_ASSIGN_OR_RETURN(options.file, path_of(text, input));
  options.events_path = text.events;
  QPERF_ASSIGN_OR_RETURN(const OpenTrace opened, open(options));
  auto trace = timeline::read_device_trace(opened.source(), nullptr, input.summary);
  if (!trace) return std::move(trace).error().in(printable(options.file));
  std::unique_ptr<timeline::DiskWaits> waits;
  if (capture.sched->has_events()) {
    QPERF_ASSIGN_OR_RETURN(timeline::DiskWaits found, load_disk_waits(input.path));
    waits = std::make_unique<timeline::DiskWaits>(std::move(found));
  }
  return std::make_unique<WithTrace>(options.file, opened.source().description(),
                                     match_waits(*std::move(trace), std::move(waits), input.summary), wall_window(capture));
}

}  // namespace qperf::tools
