#include <fmt/core.h>

#include <map>
#include <optional>

#include "capture/reader.h"
#include "qemutrace/distribution.h"
#include "timeline/wait_split.h"
#include "tools/qperf/address_names.h"
#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

using qemutrace::Distribution;
using timeline::DiskWait;
using timeline::SplitWait;
using timeline::WaitPart;

constexpr size_t kMaxRequests = size_t{4} << 20;
constexpr size_t kMostSiteFrames = 6;

/// The waits of one group: how long each part took.
struct Group {
  uint64_t waits = 0;
  std::array<Distribution, timeline::kWaitParts> parts;
  Distribution total;

  void add(const SplitWait& split) {
    ++waits;
    for (size_t i = 0; i < parts.size(); ++i) parts[i].add(split.parts_ns[i]);
    total.add(split.wait->total_ns());
  }
};

const char* direction(bool is_write) { return is_write ? "write" : "read"; }

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
    if (key == "direction") name += direction(split.wait->is_write);
    if (key == "task") name += split.wait->task_label;
    if (key == "site") name += sites.text(*split.wait);
  }
  return name;
}

Table part_table(const std::map<std::string, Group>& groups) {
  Table table({{"Waits of", "group", true},
               {"Part", "part", true},
               {"Count", "count"},
               {"%", "percent"},
               {"Min us", "min_ns"},
               {"Mean", "mean_ns"},
               {"p50", "p50_ns"},
               {"p95", "p95_ns"},
               {"p99", "p99_ns"},
               {"Max", "max_ns"},
               {"Sum", "sum_ns"}});
  const auto row = [&table](const std::string& group, std::string_view part, const Distribution& d, double whole) {
    table.add({cell_text(group), cell_text(part), cell(d.count()), cell_percent(d.total(), whole), cell_us(d.quantile(0)),
               cell_us(static_cast<uint64_t>(d.mean())), cell_us(d.quantile(0.5)), cell_us(d.quantile(0.95)),
               cell_us(d.quantile(0.99)), cell_us(d.quantile(1)), cell_us(static_cast<uint64_t>(d.total()))});
  };
  for (const auto& [name, group] : groups) {
    for (size_t i = 0; i < timeline::kWaitParts; ++i)
      row(name, wait_part_name(static_cast<WaitPart>(i)), group.parts[i], group.total.total());
    row(name, "all", group.total, group.total.total());
  }
  return table;
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
                             cell_text(direction(s.wait->is_write)), cell(s.request->request.sector),
                             cell(s.request->request.sectors), cell_us(s.wait->blocked_ns())};
    for (const uint64_t ns : s.parts_ns) row.push_back(cell_us(ns));
    row.push_back(cell_words(notes));
    table.add(std::move(row));
  }
  return table;
}

/// How well both times fit: a wait whose request ended after the wake cannot be.
struct Order {
  uint64_t contradictions = 0;
  uint64_t worst_ns = 0;
  uint64_t by_sector = 0;
  uint64_t host_unknown = 0;
  uint64_t doubtful = 0;

  explicit Order(const timeline::Split& split) {
    for (const SplitWait& s : split.waits) {
      contradictions += s.contradiction_ns > 0 ? 1 : 0;
      worst_ns = std::max(worst_ns, s.contradiction_ns);
      by_sector += s.by_sector ? 1 : 0;
      host_unknown += s.host_known ? 0 : 1;
      doubtful += s.request->request.loss_in_span || !s.wait->certain ? 1 : 0;
    }
  }
};

struct Inputs {
  timeline::DiskWaits waits;
  std::vector<timeline::PlacedRequest> requests;
  timeline::ClockMap clock;
  Analysed analysed;
  WallNs end_ns = 0;
  bool capture_complete = true;
  uint64_t requests_left_out = 0;
};

Result<Inputs> read(const TraceOptions& options) {
  QPERF_ASSIGN_OR_RETURN(const capture::Summary capture, capture::read_capture(options.capture, capture::Handlers{}));
  QPERF_ASSIGN_OR_RETURN(timeline::DiskWaits waits, timeline::read_disk_waits(options.capture));
  std::vector<qemutrace::Request> raw;
  uint64_t left_out = 0;
  qemutrace::RequestTracker tracker([&](const qemutrace::Request& request) {
    if (raw.size() < kMaxRequests) {
      raw.push_back(request);
    } else {
      ++left_out;
    }
  });
  QPERF_ASSIGN_OR_RETURN(Analysed analysed, analyse(options, tracker));
  QPERF_ASSIGN_OR_RETURN(const timeline::ClockMap clock, timeline::ClockMap::make(capture, analysed.clock));
  Inputs inputs{.waits = std::move(waits),
                .requests = {},
                .clock = clock,
                .analysed = std::move(analysed),
                .end_ns = capture.trailer ? capture.trailer->end_wall_ns : ~uint64_t{0},
                .capture_complete = capture.integrity.whole(),
                .requests_left_out = left_out};
  for (const qemutrace::Request& request : raw) inputs.requests.push_back(place(request, clock));
  return inputs;
}

std::string text_of(const Inputs& inputs, const timeline::Split& split, const Order& order, const Table& parts) {
  std::string out = parts.empty() ? "no wait for a disk was matched to a request\n" : parts.text(stdout_colours());
  out += fmt::format("\n{} waits with reason virtio-blk read or write: {} matched to a request ({} by its sector), {} not\n",
                     inputs.waits.waits.size(), split.waits.size(), order.by_sector, split.unmatched_waits.size());
  if (inputs.waits.never_blocked > 0)
    out += fmt::format("{} more blocks cost no time: woken before the task left its CPU\n", inputs.waits.never_blocked);
  if (inputs.waits.unfinished > 0) out += fmt::format("{} waits had not ended with the capture\n", inputs.waits.unfinished);
  if (inputs.waits.left_out + inputs.requests_left_out > 0)
    out += fmt::format("{} waits and {} requests were left out: too many\n", inputs.waits.left_out, inputs.requests_left_out);
  out += fmt::format("{} requests that no task waited for; {} outside the capture's time\n", split.unmatched_requests,
                     split.outside_requests);
  if (order.host_unknown > 0)
    out += fmt::format("{} requests without the host's events (thread_pool_*, luring_*): their time there counts as QEMU's\n",
                       order.host_unknown);
  if (order.doubtful > 0) out += fmt::format("{} matched waits have lost events in their span\n", order.doubtful);
  out += "clock: " + inputs.clock.description() + "\n";
  out += fmt::format("check: cause and effect are out of order in {} of {} matched waits", order.contradictions, split.waits.size());
  out += order.contradictions > 0 ? fmt::format(", by {} us at most\n", cell_us(order.worst_ns).text) : "\n";
  out +=
      "queueing: until QEMU took the request; QEMU: its own layers; host: submitted to done; interrupt: told to woken; run: woken to "
      "running\n";
  return out;
}

std::string json_of(const Inputs& inputs, const timeline::Split& split, const Order& order, const Table& parts, bool each) {
  JsonObject out;
  out.raw("parts", parts.json());
  if (each) out.raw("each", each_table(split).json());
  out.add("waits", cell(inputs.waits.waits.size()));
  out.add("matched", cell(split.waits.size()));
  out.add("matched_by_sector", cell(order.by_sector));
  out.add("unmatched_waits", cell(split.unmatched_waits.size()));
  out.add("never_blocked", cell(inputs.waits.never_blocked));
  out.add("unfinished_waits", cell(inputs.waits.unfinished));
  out.add("left_out", cell(inputs.waits.left_out + inputs.requests_left_out));
  out.add("unmatched_requests", cell(split.unmatched_requests));
  out.add("outside_requests", cell(split.outside_requests));
  out.add("host_unknown", cell(order.host_unknown));
  out.add("doubtful", cell(order.doubtful));
  out.add("clock", cell_text(inputs.clock.description()));
  out.raw("clock_residual_ns", inputs.clock.residual_known() ? std::to_string(inputs.clock.residual_ns()) : "null");
  out.add("contradictions", cell(order.contradictions));
  out.add("worst_contradiction_ns", cell(order.worst_ns));
  out.members(json_report(inputs.analysed.report));
  return out.text();
}

}  // namespace

int trace_waits(const TraceOptions& options) {
  auto inputs = read(options);
  if (!inputs) return report_error(inputs.error());
  const timeline::Split split = timeline::split_waits(inputs->waits, inputs->requests, inputs->clock, inputs->end_ns);
  Sites sites;
  if (std::find(options.by.begin(), options.by.end(), "site") != options.by.end()) {
    if (const auto named = sites.name(options, inputs->waits); !named) return report_error(named.error());
  }
  std::map<std::string, Group> groups;
  for (const SplitWait& s : split.waits) groups[group_name(s, options.by, sites)].add(s);
  const Order order(split);
  const Table parts = part_table(groups);
  std::string out;
  if (options.json) {
    out = json_of(*inputs, split, order, parts, options.each);
  } else {
    if (options.each) out = each_table(split).text(stdout_colours()) + "\n";
    out += text_of(*inputs, split, order, parts);
  }
  if (!inputs->capture_complete) report_warning(options.capture + ": the capture is incomplete: waits may be missing");
  const int code = finish(inputs->analysed, out);
  return code == kDone && !inputs->capture_complete ? kIncomplete : code;
}

}  // namespace qperf::tools
