#include <algorithm>
#include <map>
#include <memory>
#include <utility>

#include "base/printable.h"
#include "capture/reader.h"
#include "timeline/device_trace.h"
#include "timeline/wait_sums.h"
#include "tools/qperf/address_names.h"
#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"
#include "tools/qperf/wait_tables.h"
#include "tools/qperf/with_trace.h"

namespace qperf::tools {
namespace {

using timeline::DiskWait;
using timeline::SplitWait;

constexpr size_t kMostSiteFrames = 6;

/// Names where tasks wait: "task_block < disk_run < transfer", innermost first.
class Sites {
 public:
  Result<void> name(const TraceOptions& options, const timeline::DiskWaits& waits) {
    QPERF_ASSIGN_OR_RETURN(AddressNames names, AddressNames::open(options.capture, options.elfs));
    report_messages(names.messages());
    std::map<std::vector<GuestVa>, std::vector<uint32_t>> ids;
    for (const DiskWait& wait : waits.waits) {
      auto& of_site = ids[wait.site];
      if (!of_site.empty()) continue;
      for (size_t i = 0; i < wait.site.size() && i < kMostSiteFrames; ++i)
        of_site.push_back(names.returned_to(wait.from_ns, wait.site[i]));
    }
    QPERF_RETURN_IF_ERROR(names.resolve());
    for (const auto& [site, of_site] : ids) {
      std::string& text = texts_[site];
      for (const uint32_t id : of_site) text += (text.empty() ? "" : " < ") + names.inline_chain(id);
      if (text.empty()) text = "(no stack)";
    }
    return {};
  }
  [[nodiscard]] const std::string& text(const DiskWait& wait) const { return texts_.at(wait.site); }

 private:
  std::map<std::vector<GuestVa>, std::string> texts_;
};

std::string group_name(const SplitWait& split, const std::vector<std::string>& by, const Sites& sites) {
  std::string name;
  for (const std::string& key : by) {
    if (!name.empty()) name += ' ';
    if (key == "direction") name += wait_direction(*split.wait);
    if (key == "task") name += split.wait->task_label;
    if (key == "site") name += sites.text(*split.wait);
  }
  return name;
}

Table each_table(const timeline::Split& split) {
  Table table({{"At s", "from_ns"},
               {"Task", "task", true},
               {"Seq", "sequence"},
               {"Direction", "direction", true},
               {"Sector", "sector"},
               {"Sectors", "sectors"},
               {"Blocked us", "blocked_ns"},
               {"Queueing", "queueing_ns"},
               {"QEMU", "qemu_ns"},
               {"Host", "host_ns"},
               {"Interrupt", "interrupt_ns"},
               {"Run", "run_ns"},
               {"Note", "notes", true}});
  for (const SplitWait& s : split.waits) {
    std::vector<std::string> notes;
    if (!s.by_sector) notes.emplace_back("matched by time alone");
    if (!s.host_known) notes.emplace_back("host not seen");
    if (s.request->request.loss_in_span || !s.wait->certain) notes.emplace_back("events lost meanwhile");
    std::vector<Cell> row = {cell_time(s.wait->from_ns, 0), cell_text(s.wait->task_label), cell(s.wait->sequence),
                             cell_text(wait_direction(*s.wait)), cell(s.request->request.sector),
                             cell(s.request->request.sectors), cell_us(s.wait->blocked_ns())};
    for (const uint64_t ns : s.parts_ns) row.push_back(cell_us(ns));
    row.push_back(cell_words(notes));
    table.add(std::move(row));
  }
  return table;
}

struct Inputs {
  timeline::TracedWaits traced;
  bool capture_complete = true;
};

Result<Inputs> read(const TraceOptions& options) {
  QPERF_ASSIGN_OR_RETURN(const capture::Summary capture, capture::read_capture(options.capture, capture::Handlers{}));
  QPERF_ASSIGN_OR_RETURN(timeline::DiskWaits waits, load_disk_waits(options.capture));
  QPERF_ASSIGN_OR_RETURN(OpenTrace opened, open(options));
  QPERF_ASSIGN_OR_RETURN(timeline::DeviceTrace trace, timeline::read_device_trace(opened.source(), &opened.filter, capture));
  return Inputs{.traced = match_waits(std::move(trace), std::make_unique<timeline::DiskWaits>(std::move(waits)), capture),
                .capture_complete = capture.integrity.whole()};
}

std::string text_of(const timeline::TracedWaits& traced, const WaitCounts& counts, const Table& parts) {
  return (parts.empty() ? "no wait for a disk was matched to a request\n" : parts.text(stdout_colours())) + "\n" + wait_lines(traced, counts);
}

std::string json_of(const timeline::TracedWaits& traced, const WaitCounts& counts, const Table& parts, bool each) {
  JsonObject out = json_of_job("waits");
  out.raw("parts", parts.json());
  if (each) out.raw("each", each_table(traced.split).json());
  add_wait_members(traced, counts, out);
  add_clock_members(traced.trace.clock, out);
  out.members(json_report(traced.trace.report));
  return out.text();
}

}  // namespace

int trace_waits(const TraceOptions& options) {
  auto inputs = read(options);
  if (!inputs) return report_error(inputs.error());
  const timeline::TracedWaits& traced = inputs->traced;
  Sites sites;
  if (std::find(options.by.begin(), options.by.end(), "site") != options.by.end()) {
    if (const auto named = sites.name(options, *traced.waits); !named) return report_error(named.error());
  }
  std::map<std::string, timeline::WaitSums> groups;
  for (const SplitWait& s : traced.split.waits) groups[group_name(s, options.by, sites)].add(s);
  const WaitCounts counts(traced.split, {});
  const Table parts = wait_part_table(groups);
  std::string out;
  if (options.json) {
    out = json_of(traced, counts, parts, options.each);
  } else {
    if (options.each) out = each_table(traced.split).text(stdout_colours()) + "\n";
    out += text_of(traced, counts, parts);
  }
  if (!inputs->capture_complete) report_warning(printable(options.capture) + ": the capture is incomplete: waits may be missing");
  const Analysed analysed{.report = traced.trace.report, .first_ns = 0, .too_late = traced.trace.too_late, .clock = {}};
  const int code = finish(analysed, out);
  return code == kDone && !inputs->capture_complete ? kIncomplete : code;
}

}  // namespace qperf::tools
