#include "tools/profiles/html_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <limits>
#include <tuple>

#include "analysis/report.h"
#include "export/markup_text.h"
#include "profile/binned_weights.h"
#include "profile/call_tree.h"
#include "tools/profiles/html_devices.h"
#include "tools/profiles/html_frames.h"
#include "tools/profiles/html_host.h"
#include "tools/profiles/html_tasks.h"
#include "tools/profiles/html_timeline.h"
#include "tools/profiles/matched_frames.h"
#include "tools/profiles/runs.h"
#include "tools/profiles/weight_words.h"

namespace qperf::tools {
namespace {

using analysis::CaptureProfile;
using exporter::HtmlReport;
using exporter::HtmlTime;
using profile::BinnedWeights;

bool has_clock(const CaptureProfile& profile) {
  return !profile.input.legacy && profile.input.summary.header.mode != guest::Mode::kExact;
}

/// Exact counts have no clock, several runs no common one: all of them are in one bin.
BinnedWeights binned(const HtmlInput& input) {
  const CaptureProfile& profile = input.profiles.current;
  if (input.current_runs != nullptr) {
    std::vector<BinnedWeights::Row> rows;
    for (const report::Row& row : input.current_runs->rows)
      rows.push_back({.bin = 0, .vcpu = VcpuIndex{0}, .group = analysis::kNoRoot, .stack = row.stack, .weight = row.weight});
    return {0, std::move(rows)};
  }
  if (profile.input.legacy || has_clock(profile)) return profile.bins;
  std::vector<BinnedWeights::Row> rows;
  for (const auto& row : profile.weights.rows())
    rows.push_back({.bin = 0, .vcpu = row.vcpu, .group = analysis::kNoRoot, .stack = row.stack, .weight = row.weight});
  return {0, std::move(rows)};
}

HtmlTime time_axis(const HtmlInput& input, const BinnedWeights& bins) {
  const CaptureProfile& current = input.profiles.current;
  HtmlTime time;
  if (input.current_runs != nullptr || (!current.input.legacy && !has_clock(current))) return time;
  time.unit = current.input.legacy ? HtmlTime::Unit::kPosition : HtmlTime::Unit::kWallNs;
  uint64_t from = std::numeric_limits<uint64_t>::max();
  uint64_t until = 0;
  uint64_t lanes_until = 0;
  const uint64_t width = bins.bin_ns();
  if (!bins.rows().empty()) {
    from = bins.rows().front().bin * width;
    until = (bins.rows().back().bin + 1) * width;
  }
  if (input.sched != nullptr) {
    for (const auto rows : {input.sched->intervals().tasks(), input.sched->intervals().halts()}) {
      for (const auto& row : rows) {
        from = std::min(from, row.from_ns);
        lanes_until = std::max(lanes_until, row.from_ns + row.length_ns);
      }
    }
  }
  until = std::max(until, lanes_until);
  if (until == 0) return HtmlTime{};
  const uint64_t first = from / width;
  const uint64_t last = (until - 1) / width;
  time.bins = static_cast<uint32_t>(std::min<uint64_t>(last - first + 1, BinnedWeights::kBins * 4));
  time.start = first * width;
  time.end = time.start + time.bins * width;
  if (time.bins == 1) {  // which may be far longer than the capture: the lanes are not
    const uint64_t known = std::max(lanes_until, analysis::end_of(current.input));
    if (known > time.start) time.end = std::min(time.end, known);
  }
  return time;
}

struct SampleRow {
  uint32_t bin;
  uint32_t cpu;
  uint32_t task;
  uint32_t node;
  uint64_t weight;
};

class ReportBuilder {
 public:
  ReportBuilder(const HtmlInput& input, const HtmlLimits& limits)
      : input_(input), limits_(limits), frames_(input.profiles.names.frames, limits.name_bytes) {}

  HtmlReport build() {
    BinnedWeights bins = binned(input_);
    const uint64_t bin_ns = bins.bin_ns();
    bins.fit(limits_.sample_rows);
    if (input_.host != nullptr && has_clock(input_.profiles.current)) {
      host_sums_ = input_.host->sums;
      host_sums_.fit(limits_.sample_rows / 4);
      bins.widen(host_sums_.bin_ns());  // so that each of the host's lies in one of these
    }
    if (bins.bin_ns() != bin_ns) note(fmt::format("time is told in steps of {:.1f} ms", static_cast<double>(bins.bin_ns()) / 1e6));
    if (input_.sched != nullptr) tasks_ = HtmlTasks(*input_.sched, limits_.task_lanes);
    report_.title = input_.name;
    report_.generator = "qperf " QPERF_VERSION;
    const analysis::CaptureInput& capture = input_.profiles.current.input;
    report_.unit = input_.current_runs != nullptr ? quantity_words(capture) : weight_words(capture);
    report_.time = time_axis(input_, bins);
    add_tree(bins);
    add_lanes();
    frames_.move_into(report_);
    add_words();
    return std::move(report_);
  }

 private:
  void note(std::string text) { report_.left_out.push_back(std::move(text)); }

  uint32_t task_lane(uint32_t group) const {
    if (input_.sched == nullptr) return 0;
    const auto task = input_.sched->task_of(group);
    return task ? tasks_.lane_of(*task) : 0;
  }

  std::vector<report::Row> rows_now() const {
    return input_.current_runs != nullptr ? input_.current_runs->rows : rows_of(input_.profiles.current);
  }
  std::vector<report::Row> rows_before() const {
    if (input_.profiles.baseline == nullptr) return {};
    return input_.baseline_runs != nullptr ? input_.baseline_runs->rows : rows_of(*input_.profiles.baseline);
  }
  static uint64_t samples_of(const HtmlRuns* runs, const CaptureProfile& only) {
    return runs != nullptr ? runs->samples : run_of(only, 1).samples;
  }

  void add_tree(const BinnedWeights& bins) {
    const profile::NamedStacks& names = input_.profiles.names;
    profile::CallTree tree;
    std::vector<profile::NodeId> node_of(names.stacks.size());
    std::vector<uint64_t> self(1);
    std::vector<uint64_t> base(1);
    std::vector<profile::FrameId> matched;
    if (input_.profiles.baseline != nullptr) matched = matched_frames(names, rows_now());
    const auto place_of = [&](profile::StackId stack) {
      if (matched.empty()) return tree.node_of(names.stacks[stack]);
      profile::NodeId node;
      for (const profile::FrameId frame : names.stacks[stack]) node = tree.child(node, matched[frame.raw]);
      return node;
    };
    const auto weigh = [&](std::vector<uint64_t>& sums, profile::StackId stack, uint64_t weight) {
      profile::NodeId& node = node_of[stack.raw];
      if (node.raw == 0) node = place_of(stack);
      self.resize(tree.size());
      base.resize(tree.size());
      sums[node.raw] = profile::saturating_add(sums[node.raw], weight);
    };
    for (const auto& row : bins.rows()) weigh(self, row.stack, row.weight);
    for (const report::Row& row : rows_before()) weigh(base, row.stack, row.weight);
    std::vector<uint64_t> both = self;
    for (size_t i = 0; i < both.size(); ++i) both[i] = profile::saturating_add(both[i], base[i]);
    const auto pruned = profile::prune(tree, tree.totals(both), limits_.nodes, frames_.synthetic("[rare]"));
    if (pruned.cut != 0) note(fmt::format("{} places of the call tree that weigh least, added up as [rare]", pruned.cut));
    report_.tree = frames_.encode(pruned.tree);
    add_samples(bins, node_of, pruned.now);
    if (input_.profiles.baseline == nullptr) return;
    report_.base = exporter::HtmlBase{.name = std::string(input_.baseline_name),
                                      .weights = {},
                                      .samples = samples_of(input_.baseline_runs, *input_.profiles.baseline),
                                      .samples_of_now = samples_of(input_.current_runs, input_.profiles.current)};
    std::vector<uint64_t> base_now(pruned.tree.size());
    for (size_t i = 0; i < base.size(); ++i) base_now[pruned.now[i].raw] = profile::saturating_add(base_now[pruned.now[i].raw], base[i]);
    for (const uint64_t weight : base_now) report_.base->weights.add(weight);
  }

  void add_samples(const BinnedWeights& bins, const std::vector<profile::NodeId>& node_of, const std::vector<profile::NodeId>& now) {
    const auto first_bin = static_cast<uint32_t>(report_.time.start / bins.bin_ns());
    std::vector<SampleRow> rows;
    rows.reserve(bins.rows().size());
    for (const auto& row : bins.rows())
      rows.push_back({.bin = row.bin - first_bin,
                      .cpu = row.vcpu.raw,
                      .task = task_lane(row.group),
                      .node = now[node_of[row.stack.raw].raw].raw,
                      .weight = row.weight});
    const auto key = [](const SampleRow& row) { return std::make_tuple(row.bin, row.cpu, row.task, row.node); };
    std::ranges::sort(rows, {}, key);
    for (size_t i = 0; i < rows.size();) {
      SampleRow sum = rows[i];
      for (++i; i < rows.size() && key(rows[i]) == key(sum); ++i) sum.weight = profile::saturating_add(sum.weight, rows[i].weight);
      report_.samples.bins.add(sum.bin);
      report_.samples.cpus.add(sum.cpu);
      report_.samples.tasks.add(sum.task);
      report_.samples.nodes.add(sum.node);
      report_.samples.weights.add(sum.weight);
    }
  }

  void add_lanes() {
    if (report_.time.unit == HtmlTime::Unit::kNone) {
      if (input_.devices != nullptr) note("device requests: the capture gives the page no axis of time");
      if (input_.host != nullptr) note("the host's samples: the capture gives the page no axis of time");
      return;
    }
    const auto vcpus = input_.profiles.vcpus();
    if (input_.sched == nullptr) {
      add_sample_lanes(vcpus, report_);
    } else {
      const uint32_t last = vcpus.empty() ? 0 : vcpus.back().raw + 1;
      add_sched_lanes(*input_.sched, tasks_, std::max(last, input_.sched->survey().vcpus()), limits_, report_);
      add_off_cpu(*input_.sched, tasks_, limits_, frames_, report_);
    }
    if (input_.devices != nullptr) add_device_lanes(*input_.devices, limits_, report_);
    if (input_.host != nullptr) add_host(input_.host->view, host_sums_, input_.profiles.names, limits_, frames_, report_);
  }

  void add_words() {
    const CaptureProfile& current = input_.profiles.current;
    const capture::Header& header = current.input.summary.header;
    const auto add = [&](std::string key, std::string value) {
      if (!value.empty()) report_.about.emplace_back(std::move(key), exporter::clipped(value, limits_.word_bytes));
    };
    if (input_.current_runs != nullptr) {
      add_runs("recordings", *input_.current_runs);
      add("weights", "the sum of the recordings, each taken as heavy as the heaviest; the page has no axis of time");
    }
    bool first = true;
    for (const std::string& line : input_.current_runs == nullptr ? analysis::report_lines(current) : std::vector<std::string>()) {
      const size_t colon = first ? std::string::npos : line.find(": ");
      if (colon == std::string::npos)
        add(first ? "capture" : "", line);
      else
        add(line.substr(0, colon), line.substr(colon + 2));
      first = false;
    }
    if (input_.baseline_runs != nullptr) {
      add_runs("compared with", *input_.baseline_runs);
    } else if (const CaptureProfile* before = input_.profiles.baseline; before != nullptr) {
      add("compared with", analysis::headline(before->input) + "; " + analysis::selection_line(*before));
    }
    if (input_.sched != nullptr)
      for (const std::string& line : input_.sched->report_lines())
        if (!line.starts_with("phase ") && !line.starts_with("and ")) add("scheduler", line);  // the timeline has the phases
    if (!current.input.legacy) {
      add("QEMU", header.qemu_version);
      add("command line", header.qemu_command_line);
      add("plugin arguments", header.plugin_arguments);
      add("ELF", header.elf_path);
    }
    add("written by", report_.generator);
    for (const auto& message : input_.warnings) report_.warnings.push_back(exporter::clipped(message.text, limits_.word_bytes));
    if (input_.devices != nullptr) add_device_words(*input_.devices, report_);
    if (input_.host != nullptr) {
      const HostView& host = input_.host->view;
      add("host", fmt::format("{}; {} of {} samples in the guest's window", analysis::headline(host.profile.input), host.inside, host.inside + host.outside));
    }
    add_buckets();
  }

  void add_runs(const std::string& key, const HtmlRuns& side) {
    for (const CaptureProfile* run : side.runs)
      report_.about.emplace_back(key, analysis::headline(run->input) + "; " + analysis::selection_line(*run));
  }

  void add_buckets() {
    const auto& input = input_.profiles.current.input;
    if (input_.current_runs != nullptr || input.legacy || !input.summary.last_ledger || input.summary.header.mode != guest::Mode::kWall) return;
    capture::Ticks sum;
    for (const auto& vcpu : input.summary.last_ledger->vcpus) {
      sum.kernel += vcpu.ticks.kernel;
      sum.user += vcpu.ticks.user;
      sum.idle += vcpu.ticks.idle;
      sum.other_privileged += vcpu.ticks.other_privileged;
      sum.lost += vcpu.ticks.lost;
      sum.unknown_idle += vcpu.ticks.unknown_idle;
    }
    report_.buckets = {{"kernel", sum.kernel}, {"user", sum.user}, {"idle", sum.idle}, {"firmware and boot", sum.other_privileged},
                       {"lost", sum.lost}, {"idle or waiting", sum.unknown_idle}};
    std::erase_if(report_.buckets, [](const exporter::HtmlBucket& bucket) { return bucket.weight == 0; });
  }

  const HtmlInput& input_;
  HtmlLimits limits_;
  HtmlFrames frames_;
  HtmlTasks tasks_;
  HtmlReport report_;
  BinnedWeights host_sums_;
};

size_t text_bytes(const HtmlReport& report) {
  exporter::CountingSink sink;
  exporter::write_html_report(report, sink);
  return sink.bytes();
}

}  // namespace

HtmlLimits HtmlLimits::divided_by(size_t divisor) const noexcept {
  HtmlLimits part = *this;
  part.nodes /= divisor;
  part.sample_rows /= divisor;
  part.wait_rows /= divisor;
  part.lane_rows /= divisor;
  part.task_lanes /= divisor;
  part.device_lanes = std::max<size_t>(part.device_lanes / divisor, 1);
  part.phases /= divisor;
  part.wait_states = std::max<size_t>(part.wait_states / divisor, 1);
  constexpr size_t kNamesAreIt = 128;
  if (divisor >= kNamesAreIt) part.name_bytes /= divisor / (kNamesAreIt / 2);
  return part;
}

HtmlReport html_report(const HtmlInput& input, const HtmlLimits& limits) { return ReportBuilder(input, limits).build(); }

Result<HtmlReport> html_report(const HtmlInput& input) {
  constexpr size_t kMostDivisor = 1024;
  for (size_t divisor = 1;; divisor *= 2) {
    HtmlReport report = html_report(input, HtmlLimits{}.divided_by(divisor));
    const size_t bytes = text_bytes(report);
    if (bytes <= kMaxHtmlBytes) return report;
    if (divisor == kMostDivisor)
      return Error{ErrorCode::kLimit, fmt::format("the page has {} bytes at least, and browsers get slow beyond {}: choose a part of the capture "
                                                     "with --from and --until, or another format",
                                                     bytes, kMaxHtmlBytes)};
  }
}

}  // namespace qperf::tools
