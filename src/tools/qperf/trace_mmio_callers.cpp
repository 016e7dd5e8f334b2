#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

#include "analysis/report.h"
#include "base/printable.h"
#include "capture/reader.h"
#include "qemutrace/distribution.h"
#include "timeline/clock_map.h"
#include "timeline/nearest_sample.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/address_names.h"
#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;

constexpr size_t kMaxRegions = 10'000;
constexpr uint32_t kUntold = 0xffffffff;    // no sample near enough
constexpr uint32_t kNoVcpu = 0xfffffffe;    // made by another of QEMU's threads
constexpr uint32_t kNotMapped = 0xfffffffd;  // the trace's stamps cannot be mapped

/// Gives each access of a vCPU to the sample nearest in time.
class CallerCounter final : public qemutrace::Analyzer {
 public:
  CallerCounter(const timeline::NearestSample& samples, const capture::Summary& capture, uint64_t bound_ns)
      : samples_(samples), capture_(capture), bound_ns_(bound_ns) {
    const auto handler = [this](bool is_write) {
      return [this, is_write](const Event& event, int64_t cpu, std::string_view region) { access(event, cpu, region, is_write); };
    };
    on<int64_t, std::string_view>("memory_region_ops_read", {"cpu_index", "name"}, handler(false));
    on<int64_t, std::string_view>("memory_region_ops_write", {"cpu_index", "name"}, handler(true));
  }

  void begin(const qemutrace::EventSource& source) override { source_ = &source; }

  struct Count {
    uint64_t reads = 0;
    uint64_t writes = 0;
    [[nodiscard]] uint64_t total() const noexcept { return reads + writes; }
  };
  using Key = std::pair<std::string, uint32_t>;  // region, sample
  [[nodiscard]] const std::map<Key, Count>& counts() const noexcept { return counts_; }
  [[nodiscard]] const qemutrace::Distribution& distance_ns() const noexcept { return distance_ns_; }
  [[nodiscard]] const std::optional<Result<timeline::ClockMap>>& clock() const noexcept { return clock_; }

 private:
  void access(const Event& event, int64_t cpu, std::string_view region, bool is_write) {
    if (!clock_) clock_ = timeline::ClockMap::make(capture_, source_->clock());  // text tells its clock with its first event
    Count& count = slot(region, told(event, cpu));
    ++(is_write ? count.writes : count.reads);
  }

  uint32_t told(const Event& event, int64_t cpu) {
    if (cpu < 0) return kNoVcpu;
    if (!*clock_) return kNotMapped;
    const auto found = samples_.find(static_cast<uint64_t>(cpu), (*clock_)->wall_ns(event.time_ns), bound_ns_);
    if (!found) return kUntold;
    distance_ns_.add(found->distance_ns);
    return found->what;
  }

  Count& slot(std::string_view region, uint32_t what) {
    if (!regions_.contains(region)) {
      if (regions_.size() >= kMaxRegions) {
        region = "(further regions)";
      }
      regions_.emplace(region, 0);
    }
    return counts_[{std::string(region), what}];
  }

  const timeline::NearestSample& samples_;
  const capture::Summary& capture_;
  uint64_t bound_ns_;
  const qemutrace::EventSource* source_ = nullptr;
  std::optional<Result<timeline::ClockMap>> clock_;
  std::map<std::string, int, std::less<>> regions_;
  std::map<Key, Count> counts_;
  qemutrace::Distribution distance_ns_;
};

struct CaptureSamples {
  timeline::NearestSample samples;
  std::optional<analysis::Message> damage;  // of the capture
};

Result<CaptureSamples> read_samples(const std::string& path, AddressNames& names) {
  CaptureSamples read;
  timeline::NearestSample& samples = read.samples;
  capture::Handlers handlers;
  std::vector<uint32_t> of_site;
  ProgressLine progress(path, STDERR_FILENO);
  handlers.progress = analysis::progress_of(&progress, "reading samples");
  handlers.samples = [&](const capture::SampleChunk& chunk) -> Result<void> {
    for (const capture::Sample& sample : chunk.samples) {
      if (sample.site >= chunk.sites.size()) continue;
      samples.add(chunk.vcpu, sample.wall_ns, names.executed(sample.wall_ns, chunk.sites[sample.site].pc));
    }
    return {};
  };
  QPERF_ASSIGN_OR_RETURN(const capture::Summary summary, capture::read_capture(path, handlers));
  read.damage = analysis::damage_in(path, summary.integrity);
  samples.seal();
  QPERF_RETURN_IF_ERROR(names.resolve());
  return read;
}

struct Row {
  std::string region;
  std::string function;
  CallerCounter::Count count;
};

/// Samples of one function summed up; most accesses first.
std::vector<Row> rows_of(const CallerCounter& counter, const AddressNames& names) {
  std::map<std::pair<std::string, std::string>, CallerCounter::Count> sums;
  for (const auto& [key, count] : counter.counts()) {
    const auto& [region, what] = key;
    const std::string function = what == kNoVcpu                          ? "(not a vCPU)"
                                 : what == kUntold || what == kNotMapped ? "(no sample near)"
                                                                         : names.function(what);
    auto& sum = sums[{region, function}];
    sum.reads += count.reads;
    sum.writes += count.writes;
  }
  std::vector<Row> rows;
  for (const auto& [key, count] : sums) rows.push_back({key.first, key.second, count});
  std::sort(rows.begin(), rows.end(), [](const Row& a, const Row& b) {
    if (a.count.total() != b.count.total()) return a.count.total() > b.count.total();
    return std::tie(a.region, a.function) < std::tie(b.region, b.function);
  });
  return rows;
}

struct Totals {
  uint64_t accesses = 0;
  uint64_t of_vcpus = 0;
  uint64_t told = 0;
};

Totals totals_of(const CallerCounter& counter) {
  Totals totals;
  for (const auto& [key, count] : counter.counts()) {
    totals.accesses += count.total();
    if (key.second != kNoVcpu) totals.of_vcpus += count.total();
    if (key.second < kNotMapped) totals.told += count.total();
  }
  return totals;
}

/// The trace's exit code, or that a capture in which something is missing tells less.
int conclude_both(const Analysed& analysed, std::string_view output, const CaptureSamples& samples) {
  if (samples.damage) report_warning(printable(samples.damage->text));
  const int code = finish(analysed, output);
  return code == kDone && samples.damage ? kIncomplete : code;
}

}  // namespace

int trace_mmio_callers(const TraceOptions& options) {
  const auto bound_ns = qemutrace::parse_duration_ns(options.within);
  if (!bound_ns) return report_error(bound_ns.error());
  auto names = AddressNames::open(options.capture, options.elfs);
  if (!names) return report_error(names.error());
  report_messages(names->messages());
  const auto samples = read_samples(options.capture, *names);
  if (!samples) return report_error(samples.error());
  const capture::Summary& capture = names->capture().summary;
  CallerCounter counter(samples->samples, capture, *bound_ns);
  const auto analysed = analyse(options, counter);
  if (!analysed) return report_error(analysed.error());
  if (counter.clock() && !*counter.clock()) return report_error(counter.clock()->error());

  const Totals totals = totals_of(counter);
  const auto rows = rows_of(counter, *names);
  Table table({{"Region", "region", true},
               {"Function", "function", true},
               {"Reads", "reads"},
               {"Writes", "writes"},
               {"%", "percent"}});
  const size_t shown = options.top == 0 ? rows.size() : std::min(options.top, rows.size());
  for (size_t i = 0; i < shown; ++i) {
    table.add({cell_text(rows[i].region), cell_text(rows[i].function), cell(rows[i].count.reads), cell(rows[i].count.writes),
               cell_percent(static_cast<double>(rows[i].count.total()), static_cast<double>(totals.accesses))});
  }
  const std::string clock = counter.clock() ? (*counter.clock())->description() : "no accesses";
  const Cell share = cell_percent(static_cast<double>(totals.told), static_cast<double>(totals.of_vcpus));
  if (options.json) {
    JsonObject out = json_of_job("mmio-callers");
    out.raw("functions", table.json());
    out.add("accesses", cell(totals.accesses));
    out.add("accesses_of_vcpus", cell(totals.of_vcpus));
    out.add("told", cell(totals.told));
    out.add("told_percent", share);
    out.add("within_ns", cell(*bound_ns));
    out.add("median_distance_ns", cell(counter.distance_ns().median()));
    out.add("clock", cell_text(clock));
    out.members(json_report(analysed->report));
    return conclude_both(*analysed, out.text(), *samples);
  }
  std::string out = table.empty() ? "no memory_region_ops_read or _write events\n" : table.text(stdout_colours());
  if (shown < rows.size()) out += fmt::format("and {} more rows\n", rows.size() - shown);
  out += fmt::format("\n{} of {} accesses by vCPUs ({} %) have a sample of their vCPU within {}; half of those within {} us\n", totals.told,
                     totals.of_vcpus, share.text, options.within, cell_us(counter.distance_ns().median()).text);
  out += "clock: " + clock + "\n";
  return conclude_both(*analysed, out, *samples);
}

}  // namespace qperf::tools
