#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <iterator>
#include <map>

#include "base/json_quoted.h"
#include "qemutrace/counts.h"
#include "tools/qperf/json.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;
using qemutrace::EventCounts;
using Clock = std::chrono::steady_clock;

constexpr double kNsPerSecond = 1e9;

/// kvm_stat's layout. `before` and `interval_s` give the current rate of a live table; without them it is the mean over the
/// trace.
std::string table(const EventCounts& counts, const std::map<std::string, uint64_t>* before, double interval_s) {
  const auto rows = counts.rows();
  const uint64_t total = counts.total();
  size_t width = 5;
  for (const auto& row : rows) width = std::max(width, row.name.size());
  std::string out = fmt::format("{:<{}} {:>12} {:>6} {:>11}\n", "Event", width, "Total", "%Total", "CurAvg/s");
  const auto rate = [&](uint64_t count) {
    return interval_s > 0 ? fmt::format("{:.0f}", static_cast<double>(count) / interval_s) : "-";
  };
  uint64_t total_before = 0;
  for (const auto& row : rows) {
    uint64_t seen = 0;
    if (before != nullptr) {
      const auto found = before->find(row.name);
      seen = found == before->end() ? 0 : found->second;
    }
    total_before += seen;
    fmt::format_to(std::back_inserter(out), "{:<{}} {:>12} {:>6.1f} {:>11}\n", row.name, width, row.count,
                   100.0 * static_cast<double>(row.count) / static_cast<double>(total), rate(row.count - seen));
  }
  fmt::format_to(std::back_inserter(out), "{:<{}} {:>12} {:>6} {:>11}\n", "Total", width, total, "",
                 rate(total - total_before));
  return out;
}

std::string json(const EventCounts& counts, const qemutrace::ReadReport& report) {
  const double span_s = static_cast<double>(counts.span_ns()) / kNsPerSecond;
  std::string out = "{\"format\": \"qperf-trace-stat\", \"version\": 1, \"events\": [";
  bool first = true;
  for (const auto& row : counts.rows()) {
    const auto count = static_cast<double>(row.count);
    fmt::format_to(std::back_inserter(out), "{}\n  {{\"name\": {}, \"total\": {}, \"percent\": {}, \"per_second\": {}}}",
                   first ? "" : ",", json_quoted(row.name), row.count,
                   json_number(100.0 * count / static_cast<double>(counts.total())),
                   span_s > 0 ? json_number(count / span_s) : "null");
    first = false;
  }
  out += fmt::format("],\n \"total\": {}, \"span_ns\": {}, {}}}\n", counts.total(), counts.span_ns(), json_report(report));
  return out;
}

/// The table once a second while a live trace grows.
class LiveTable {
 public:
  explicit LiveTable(const EventCounts& counts) : counts_(counts) {}
  void show_if_due() {
    const auto now = Clock::now();
    if (now - shown_ < std::chrono::seconds(1)) return;
    const double interval_s = std::chrono::duration<double>(now - shown_).count();
    shown_ = now;
    if (may_colour(1)) write_out("\x1b[H\x1b[J");
    write_out(table(counts_, &before_, interval_s) + "\n");
    before_.clear();
    for (const auto& row : counts_.rows()) before_[row.name] = row.count;
  }

 private:
  const EventCounts& counts_;
  std::map<std::string, uint64_t> before_;
  Clock::time_point shown_ = Clock::now();
};

}  // namespace

int trace_stat(const TraceOptions& options) {
  EventCounts counts;
  LiveTable live(counts);
  auto opened = open(options, [&] {
    if (options.follow && !options.json) live.show_if_due();
  });
  if (!opened) return report_error(opened.error());
  Event event;
  auto& source = opened->source();
  if (options.where.empty()) source.skip_values();
  constexpr uint64_t kLookAtClock = 65536;  // records between looks at the clock: a busy trace never waits
  for (uint64_t seen = 0; source.next(event);) {
    if (!opened->filter.keeps(event)) continue;
    if (!event.is_loss) counts.add(event);
    if (options.follow && !options.json && ++seen % kLookAtClock == 0) live.show_if_due();
  }
  opened->all_read();
  const int written = options.json ? write_out(json(counts, source.report()))
                                   : write_out(table(counts, nullptr, static_cast<double>(counts.span_ns()) / kNsPerSecond));
  const int complete = conclude(source.report());
  return written != kDone ? written : complete;
}

}  // namespace qperf::tools
