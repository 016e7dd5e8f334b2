#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>

#include "export/output_file.h"
#include "qemutrace/distribution.h"
#include "qemutrace/requests.h"
#include "tools/profiles/selection.h"
#include "tools/qperf/json.h"
#include "tools/qperf/request_timeline.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"
#include "tools/qperf/with_trace.h"

namespace qperf::tools {
namespace {

using qemutrace::Distribution;
using qemutrace::Request;
using qemutrace::Stage;

struct Span {
  Stage from;
  Stage to;
};

// From stage to stage, then the sums: P2F is what btt calls D2C, N2I what the guest sees of the device.
constexpr std::array kSpans = std::to_array<Span>({
    {Stage::kNotify, Stage::kPop},
    {Stage::kPop, Stage::kHandle},
    {Stage::kHandle, Stage::kBlock},
    {Stage::kBlock, Stage::kSubmit},
    {Stage::kSubmit, Stage::kHostDone},
    {Stage::kHostDone, Stage::kComplete},
    {Stage::kBlock, Stage::kComplete},
    {Stage::kComplete, Stage::kFill},
    {Stage::kFill, Stage::kInterrupt},
    {Stage::kPop, Stage::kFill},
    {Stage::kNotify, Stage::kInterrupt},
});

std::string span_name(const Span& span) {
  using qemutrace::kStageLetters;
  return {kStageLetters[static_cast<size_t>(span.from)], '2', kStageLetters[static_cast<size_t>(span.to)]};
}

struct Group {
  std::array<Distribution, kSpans.size()> spans;
  uint64_t requests = 0;
  uint64_t sectors = 0;
  uint64_t sequential = 0;
  uint64_t merged = 0;
  uint64_t doubtful = 0;

  void add(const Request& request) {
    ++requests;
    sectors += request.sectors;
    sequential += request.sequential ? 1 : 0;
    merged += request.merged ? 1 : 0;
    doubtful += request.loss_in_span ? 1 : 0;
    for (size_t i = 0; i < kSpans.size(); ++i) {
      const auto from = request.at(kSpans[i].from);
      const auto to = request.at(kSpans[i].to);
      if (from && to && *to >= *from) spans[i].add(*to - *from);
    }
  }
};

// Devices, queues and sizes are the trace's word.
constexpr size_t kMaxGroups = 10'000;
constexpr const char* kOtherGroups = "(more groups)";

/// "4 KiB" classes by powers of two, so that a group has a size that says something.
std::string size_class(uint64_t sectors) {
  uint64_t bytes = 512;
  while (bytes < sectors * 512 && bytes < uint64_t{1} << 40) bytes *= 2;
  return bytes < 1024      ? "<=512 B"
         : bytes < 1048576 ? "<=" + std::to_string(bytes / 1024) + " KiB"
                           : "<=" + std::to_string(bytes / 1048576) + " MiB";
}

std::string device_name(const qemutrace::DeviceNames& names, uint64_t device) {
  return names.device(device).value_or(cell_hex(device).text);
}

std::string group_name(const Request& request, const std::vector<std::string>& by, const qemutrace::DeviceNames& names) {
  std::string name;
  const auto add = [&name](const std::string& part) { name += (name.empty() ? "" : " ") + part; };
  for (const std::string& key : by) {
    if (key == "device") add(device_name(names, request.device));
    if (key == "queue")
      add("queue " + (request.queue_number < 0 ? cell_hex(request.queue).text : std::to_string(request.queue_number)));
    if (key == "direction") add(!request.is_transfer ? "other" : request.is_write ? "write" : "read");
    if (key == "size") add(size_class(request.sectors));
  }
  return name.empty() ? "all" : name;
}

/// For what share of the time so many requests were in flight.
Table depth_table(const qemutrace::RequestTracker& tracker) {
  Table table({{"In flight", "in_flight"}, {"% of time", "percent"}, {"Time us", "time_ns"}});
  uint64_t whole = 0;
  for (const uint64_t ns : tracker.depth_ns()) whole += ns;
  for (size_t depth = 0; depth < tracker.depth_ns().size(); ++depth) {
    const uint64_t ns = tracker.depth_ns()[depth];
    if (ns > 0) table.add({cell(depth), cell_percent(static_cast<double>(ns), static_cast<double>(whole)), cell_us(ns)});
  }
  return table;
}

Result<void> write_perfetto(const std::string& path, RequestTimeline& timeline, const qemutrace::DeviceNames& names) {
  QPERF_ASSIGN_OR_RETURN(const auto file, exporter::OutputFile::create(path));
  file->write(timeline.perfetto(names));
  QPERF_RETURN_IF_ERROR(file->commit());
  if (timeline.left_out() > 0)
    report_warning(std::to_string(timeline.left_out()) + " requests were left out of the timeline: cut the trace with --from and --until");
  return {};
}

}  // namespace

int trace_io(const TraceOptions& options) {
  if (!options.perfetto.empty()) {
    const std::string trace = options.file == "-" ? "/dev/stdin" : options.file;
    if (const auto apart = check_no_input_is_overwritten({trace, options.events_path}, {options.perfetto}); !apart)
      return report_error(apart.error());
  }
  std::map<std::string, Group> groups;
  uint64_t requests = 0;
  RequestTimeline timeline;
  const qemutrace::RequestTracker* names_of = nullptr;
  qemutrace::RequestTracker tracker([&](const Request& request) {
    ++requests;
    std::string group = group_name(request, options.by, names_of->names());
    if (groups.size() >= kMaxGroups && !groups.contains(group)) group = kOtherGroups;
    groups[std::move(group)].add(request);
    if (!options.perfetto.empty()) timeline.add(request);
  });
  names_of = &tracker;
  const auto analysed = analyse(options, tracker);
  if (!analysed) return report_error(analysed.error());
  if (!options.perfetto.empty()) {
    if (const auto written = write_perfetto(options.perfetto, timeline, tracker.names()); !written)
      return report_error(written.error());
  }

  Table stages({{"Requests of", "group", true},
                {"Stage", "stage", true},
                {"Count", "count"},
                {"Min us", "min_ns"},
                {"Mean", "mean_ns"},
                {"p50", "p50_ns"},
                {"p95", "p95_ns"},
                {"p99", "p99_ns"},
                {"Max", "max_ns"}});
  Table totals({{"Requests of", "group", true},
                {"Count", "count"},
                {"Sectors", "sectors"},
                {"Sequential", "sequential"},
                {"Random", "random"},
                {"Merged", "merged"},
                {"Loss meanwhile", "loss_in_span"}});
  for (const auto& [name, group] : groups) {
    totals.add({cell_text(name), cell(group.requests), cell(group.sectors), cell(group.sequential),
                cell(group.requests - group.sequential), cell(group.merged), cell(group.doubtful)});
    for (size_t i = 0; i < kSpans.size(); ++i) {
      const Distribution& d = group.spans[i];
      if (d.count() == 0) continue;
      stages.add({cell_text(name), cell_text(span_name(kSpans[i])), cell(d.count()), cell_us(d.quantile(0)),
                  cell_us(static_cast<uint64_t>(d.mean())), cell_us(d.quantile(0.5)), cell_us(d.quantile(0.95)),
                  cell_us(d.quantile(0.99)), cell_us(d.quantile(1))});
    }
  }
  if (options.json) {
    JsonObject out = json_of_job("io");
    out.add("requests", cell(requests));
    out.raw("groups", totals.json());
    out.raw("stages", stages.json());
    out.add("most_in_flight", cell(tracker.most_in_flight()));
    out.add("mean_in_flight", cell_decimal(tracker.mean_in_flight()));
    out.add("merged_submissions", cell(tracker.merges()));
    out.add("unfinished", cell(tracker.unfinished()));
    out.add("without_start", cell(tracker.without_start()));
    out.add("left_out", cell(tracker.left_out()));
    Table depth({{"", "time_ns"}, {"", "in_flight"}});
    for (const auto& change : tracker.depth()) depth.add({cell_time(change.time_ns, 0), cell(change.in_flight)});
    out.raw("depth", depth.json());
    out.add("depth_changes_left_out", cell(tracker.depth_changes_left_out()));
    out.raw("depth_shares", depth_table(tracker).json());
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  if (groups.empty())
    return finish(*analysed,
                  fmt::format("{}\n", kNoRequests));
  std::string out =
      totals.text(stdout_colours()) + "\n" + stages.text(stdout_colours()) +
      "\nN notify, P pop, H handle, B block layer, S host submit, X host done, R back in virtio-blk, F fill, I interrupt\n";
  out += "in flight: at most " + std::to_string(tracker.most_in_flight()) + ", mean " +
         cell_decimal(tracker.mean_in_flight()).text + "\n" + depth_table(tracker).text(stdout_colours());
  if (tracker.merges() > 0)
    out += std::to_string(tracker.merges()) + " times several requests went to the block layer as one\n";
  if (tracker.unfinished() > 0)
    out += std::to_string(tracker.unfinished()) + " requests were not finished; see qperf trace leaks\n";
  if (tracker.without_start() > 0)
    out += std::to_string(tracker.without_start()) + " were finished that began before the trace\n";
  if (tracker.left_out() > 0)
    out += std::to_string(tracker.left_out()) + " events were left out: of more requests, queues or host I/O than are followed at once\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
