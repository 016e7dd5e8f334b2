#include "tools/qperf/trace_options.h"

#include <fmt/core.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

using qemutrace::IdRule;

// Set by a signal: the one thing a handler may touch.
volatile std::sig_atomic_t stop_requested = 0;

void request_stop(int) { stop_requested = 1; }

void catch_stop_signals() {
  struct sigaction action{};
  action.sa_handler = request_stop;  // without SA_RESTART: a blocked read returns
  ::sigaction(SIGINT, &action, nullptr);
  ::sigaction(SIGTERM, &action, nullptr);
}

}  // namespace

Result<OpenTrace> open(const TraceOptions& options, std::function<void()> on_wait, OutputComes output) {
  std::unique_ptr<ProgressLine> progress;
  qemutrace::OpenOptions how;
  how.events_path = options.events_path;
  how.ids = options.ids == "all" ? IdRule::kAll : options.ids == "enabled" ? IdRule::kEnabledOnly : IdRule::kDetect;
  how.input.follow = options.follow;
  how.input.on_wait = [on_wait = std::move(on_wait)] {
    if (on_wait) on_wait();
    return stop_requested == 0;
  };
  const bool drawn_into = output == OutputComes::kMeanwhile && ::isatty(STDOUT_FILENO) == 1;
  if (!options.follow && !drawn_into) {
    progress = std::make_unique<ProgressLine>(options.file, STDERR_FILENO);
    how.input.progress = analysis::progress_of(progress.get(), "reading events");
  }
  if (options.follow) catch_stop_signals();
  QPERF_ASSIGN_OR_RETURN(qemutrace::Trace trace, qemutrace::open_trace(options.file, how));
  QPERF_ASSIGN_OR_RETURN(
      qemutrace::Filter filter,
      qemutrace::Filter::make({.events = options.events, .from = options.from, .until = options.until, .where = options.where},
                              *trace.declarations));
  return OpenTrace{std::move(progress), std::move(trace), std::move(filter)};
}

int conclude(const qemutrace::ReadReport& report) {
  if (report.loss_records > 0)
    report_warning(
        fmt::format("{} events were lost in {} places: QEMU's trace buffer was full", report.lost_events, report.loss_records));
  if (report.torn_bytes > 0) report_warning(fmt::format("the last record is cut: {} bytes of it are there", report.torn_bytes));
  if (!report.broken.empty()) report_warning(report.broken);
  for (const auto& [name, mismatch] : report.mismatches)
    report_warning(fmt::format("{}: {} records do not fit: {}", name, mismatch.first, mismatch.second));
  constexpr size_t kShown = 10;
  size_t shown = 0;
  for (const auto& [name, count] : report.undeclared) {
    if (++shown > kShown) break;
    report_warning(fmt::format("{}: {} records, but the events file does not declare it: give --events with that of this QEMU",
                               name, count));
  }
  if (report.undeclared.size() > kShown)
    report_warning(fmt::format("and {} more undeclared events", report.undeclared.size() - kShown));
  return report.incomplete() ? kIncomplete : kDone;
}

}  // namespace qperf::tools
