#include "sched_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>

#include "base/printable.h"
#include "export/folded.h"

namespace qperf::tools {

uint64_t weight_of(const exporter::SpeedscopeProfile& profile) {
  uint64_t sum = 0;
  for (const auto& sample : profile.samples) sum = profile::saturating_add(sum, sample.weight);
  return sum;
}

Result<std::optional<analysis::SchedRequest>> sched_request_for(const Options& options) {
  const SchedOptions& wanted = options.sched;
  if (!wanted.any()) return std::optional<analysis::SchedRequest>();
  analysis::SchedRequest request;
  request.from = options.from;
  request.until = options.until;
  request.phase = wanted.phase;
  request.occurrence = wanted.occurrence;
  request.group_by_task = wanted.group_by_task;
  request.wakers = wanted.wakers ? sched::WakerSide::kAppend : sched::WakerSide::kLeaveOut;
  request.replay = wanted.off_cpu_output || wanted.sched_output;
  if (wanted.task) {
    try {
      request.tasks = std::regex(*wanted.task, std::regex::ECMAScript | std::regex::optimize);
    } catch (const std::regex_error& error) {
      return Error{ErrorCode::kUsage, fmt::format("--task '{}': no regular expression: {}", printable(*wanted.task), error.what())};
    }
  }
  return std::optional(std::move(request));
}

std::vector<exporter::SpeedscopeProfile> profiles_by_root(const profile::NamedStacks& names,
                                                          const std::vector<exporter::SpeedscopeSample>& samples) {
  std::map<std::string, exporter::SpeedscopeProfile> by_root;
  for (const auto& sample : samples) {
    const auto stack = names.stacks[sample.stack];
    if (stack.empty()) continue;
    const std::string& root = names.frames[stack.front()].name;
    auto& profile = by_root[root];
    profile.name = root;
    profile.samples.push_back(sample);
  }
  std::vector<exporter::SpeedscopeProfile> profiles;
  for (auto& [root, profile] : by_root) profiles.push_back(std::move(profile));
  std::ranges::stable_sort(profiles, std::greater<>{}, weight_of);
  return profiles;
}

void write_off_cpu(const analysis::SchedView& sched, const Options& options, exporter::TextSink& sink) {
  profile::NamedStacks names;
  std::vector<exporter::FoldedRow> rows;
  std::vector<profile::FrameId> frames;
  for (const sched::OffCpuLine& line : sched.off_cpu_lines()) {
    frames.clear();
    for (const std::string& frame : line.frames) frames.push_back(names.frames.intern({.name = frame, .file = "", .line = 0}));
    rows.push_back({.root = std::nullopt, .stack = names.stacks.intern(frames), .count = line.weight_ns, .count2 = 0});
  }
  if (options.format == Format::kFolded) {
    exporter::write_folded(names, rows, exporter::FoldedCounts::kOne, sink);
    return;
  }
  exporter::SpeedscopeDocument document;
  document.name = "off-CPU time";
  document.exporter = "qperf@" QPERF_VERSION;
  document.unit = exporter::SpeedscopeUnit::kNanoseconds;
  exporter::SpeedscopeProfile all{.name = "all", .samples = {}};
  for (const auto& row : rows) all.samples.push_back({row.stack, row.count});
  auto by_root = profiles_by_root(names, all.samples);
  document.profiles.push_back(std::move(all));
  std::ranges::move(by_root, std::back_inserter(document.profiles));
  exporter::write_speedscope(names, document, sink);
}

}  // namespace qperf::tools
