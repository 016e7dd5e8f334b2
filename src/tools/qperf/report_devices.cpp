#include "tools/qperf/report_devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "base/printable.h"
#include "qemutrace/distribution.h"
#include "timeline/wait_sums.h"
#include "tools/qperf/json.h"
#include "tools/qperf/table.h"
#include "tools/qperf/wait_tables.h"

namespace qperf::tools {
namespace {

using timeline::PlacedRequest;

struct RequestSums {
  uint64_t sectors = 0;
  uint64_t waited_for = 0;
  uint64_t doubtful = 0;
  qemutrace::Distribution device_ns;
};

/// What is shown, chosen once for text and JSON.
struct DeviceReport {
  std::map<std::pair<std::string, std::string_view>, RequestSums> requests;  // by queue and kind
  std::map<std::string, timeline::WaitSums> waits;                           // by direction
  std::optional<WaitCounts> counts;
  uint64_t doubtful = 0;

  DeviceReport(const WithTrace& trace, const LoadedCapture& capture) {
    add_requests(trace);
    if (!trace.traced.has_waits()) return;
    const WaitChoice chosen = [&](const timeline::DiskWait& wait) {
      return trace.view.window.contains(wait.woken_ns) && capture.sched->wants(wait.task_label);
    };
    for (const timeline::SplitWait& wait : trace.traced.split.waits)
      if (chosen(*wait.wait)) waits[wait_direction(*wait.wait)].add(wait);
    counts.emplace(trace.traced.split, chosen);
  }

 private:
  void add_requests(const WithTrace& trace) {
    std::set<const PlacedRequest*> waited_for;
    for (const auto& wait : trace.traced.split.waits) waited_for.insert(wait.request);
    for (const PlacedRequest& request : trace.traced.trace.requests) {
      const int64_t told_ns = request.told_ns();
      if (told_ns < 0 || !trace.view.window.contains(static_cast<WallNs>(told_ns))) continue;
      RequestSums& sums = requests[{trace.traced.trace.queue_name(request.request), request_kind(request.request)}];
      sums.sectors += request.request.is_transfer ? request.request.sectors : 0;
      sums.waited_for += waited_for.contains(&request) ? 1 : 0;
      sums.doubtful += request.request.loss_in_span ? 1 : 0;
      // Modulo 2^64: forged stamps may lie farther apart than a signed number tells.
      const uint64_t device_ns = static_cast<uint64_t>(told_ns) - static_cast<uint64_t>(request.popped_ns());
      sums.device_ns.add(told_ns > request.popped_ns() ? device_ns : 0);
      doubtful += request.request.loss_in_span ? 1 : 0;
    }
  }
};

Table request_table(const DeviceReport& report) {
  Table table({{"Requests to", "queue", true},
               {"Kind", "kind", true},
               {"Count", "count"},
               {"Sectors", "sectors"},
               {"Mean us", "mean_ns"},
               {"p50", "p50_ns"},
               {"p95", "p95_ns"},
               {"Max", "max_ns"},
               {"Waited for", "waited_for"},
               {"Loss meanwhile", "loss_in_span"}});
  for (const auto& [key, sums] : report.requests)
    table.add({cell_text(key.first), cell_text(key.second), cell(sums.device_ns.count()), cell(sums.sectors),
               cell_us(static_cast<uint64_t>(sums.device_ns.mean())), cell_us(sums.device_ns.quantile(0.5)),
               cell_us(sums.device_ns.quantile(0.95)), cell_us(sums.device_ns.quantile(1)), cell(sums.waited_for), cell(sums.doubtful)});
  return table;
}

/// What the figures above are worth where the trace has gaps.
std::string loss_line(const WithTrace& trace, const DeviceReport& report) {
  const auto& read = trace.traced.trace.report;
  if (!read.incomplete()) return "";
  return fmt::format("the trace has gaps ({} events known to be lost): counts are what is left, {} of the requests above may lack stages or "
                     "have another's, and a wait without a request may have had one\n",
                     read.lost_events, report.doubtful);
}

}  // namespace

std::string devices_text(const WithTrace& trace, const LoadedCapture& capture) {
  const DeviceReport report(trace, capture);
  std::string out = fmt::format("QEMU's devices, from {} ({})\n", printable(trace.path), trace.description);
  if (trace.traced.trace.requests.empty())
    out += fmt::format("{}\n", kNoRequests);
  else if (report.requests.empty())
    out += fmt::format("none of its {} virtio-blk requests ended in the window\n", trace.traced.trace.requests.size());
  else
    out += request_table(report).text(stdout_colours());
  if (!report.counts) {
    out += fmt::format("\n{} requests in the trace, {} of them outside of the capture's time\n", trace.traced.trace.requests.size(),
                       trace.traced.split.outside_requests);
    out += clock_lines(trace.traced.trace.clock) +
           "the capture has no scheduler events, so nobody is known to wait for them: record with --trace\n";
    return out + loss_line(trace, report);
  }
  if (!report.waits.empty()) out += "\n" + wait_part_table(report.waits).text(stdout_colours());
  return out + "\n" + wait_lines(trace.traced, *report.counts) + loss_line(trace, report);
}

std::string devices_json(const WithTrace& trace, const LoadedCapture& capture) {
  const DeviceReport report(trace, capture);
  JsonObject out;
  out.add("file", cell_text(trace.path));
  out.add("kind", cell_text(trace.description));
  add_clock_members(trace.traced.trace.clock, out);
  out.raw("requests", request_table(report).json());
  if (report.counts) {
    out.raw("parts", wait_part_table(report.waits).json());
    add_wait_members(trace.traced, *report.counts, out);
  } else {
    out.raw("parts", "null");  // the capture has no scheduler events
    out.add("outside_requests", cell(trace.traced.split.outside_requests));
  }
  out.members(json_report(trace.traced.trace.report));
  std::string text = out.text();
  text.pop_back();  // its line feed: it goes into another object
  return text;
}

}  // namespace qperf::tools
