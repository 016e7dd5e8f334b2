#include "tools/profiles/off_cpu_output.h"

#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>

#include "profile/ids.h"

namespace qperf::tools {
OffCpuStacks off_cpu_stacks(const analysis::SchedView& sched) {
  OffCpuStacks result;
  std::vector<profile::FrameId> frames;
  for (const sched::OffCpuLine& line : sched.off_cpu_lines()) {
    frames.clear();
    for (const std::string& frame : line.frames)
      frames.push_back(result.names.frames.intern({.name = frame, .file = "", .line = 0}));
    result.rows.push_back(
        {.root = std::nullopt, .stack = result.names.stacks.intern(frames), .count = line.weight_ns, .count2 = 0});
  }
  return result;
}

uint64_t weight_of(const exporter::SpeedscopeProfile& profile) {
  uint64_t sum = 0;
  for (const auto& sample : profile.samples) sum = profile::saturating_add(sum, sample.weight);
  return sum;
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

void write_off_cpu_folded(const analysis::SchedView& sched, exporter::TextSink& sink) {
  const OffCpuStacks off = off_cpu_stacks(sched);
  exporter::write_folded(off.names, off.rows, exporter::FoldedCounts::kOne, sink);
}

void write_off_cpu_speedscope(const analysis::SchedView& sched, exporter::TextSink& sink) {
  const OffCpuStacks off = off_cpu_stacks(sched);
  exporter::SpeedscopeDocument document;
  document.name = "off-CPU time";
  document.exporter = "qperf@" QPERF_VERSION;
  document.unit = exporter::SpeedscopeUnit::kNanoseconds;
  exporter::SpeedscopeProfile all{.name = "all", .samples = {}};
  for (const auto& row : off.rows) all.samples.push_back({row.stack, row.count});
  auto by_root = profiles_by_root(off.names, all.samples);
  document.profiles.push_back(std::move(all));
  std::ranges::move(by_root, std::back_inserter(document.profiles));
  exporter::write_speedscope(off.names, document, sink);
}

}  // namespace qperf::tools
