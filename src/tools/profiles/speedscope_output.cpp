#include "tools/profiles/speedscope_output.h"

#include <fmt/core.h>

#include <algorithm>
#include <functional>
#include <iterator>

#include "analysis/units.h"
#include "profile/difference.h"
#include "tools/profiles/off_cpu_output.h"

namespace qperf::tools {
namespace {

using analysis::weight_as_quantity;

profile::WeightTable selected(const profile::WeightTable& weights, Part part) {
  profile::WeightTable result;
  for (const auto& row : weights.rows())
    if (!part || row.vcpu == *part) result[result.row_of(row.vcpu, row.stack)].add(row.weight, row.samples);
  return result;
}

/// In the order of time where it was kept, else by stack.
exporter::SpeedscopeProfile one_profile(const analysis::CaptureProfile& profile, Part part) {
  exporter::SpeedscopeProfile result{.name = part ? fmt::format("cpu{}", part->raw) : "all", .samples = {}};
  if (profile.timeline.complete() && !profile.timeline.runs().empty()) {
    for (const auto& run : profile.timeline.ordered([&](VcpuIndex vcpu) { return !part || vcpu == *part; }))
      result.samples.push_back({run.stack, weight_as_quantity(profile.input, run.weight)});
    return result;
  }
  for (const auto& change : profile::difference({}, selected(profile.weights, part), profile::ByVcpu::kTogether))
    result.samples.push_back({change.stack, weight_as_quantity(profile.input, change.after)});
  return result;
}

std::vector<exporter::SpeedscopeProfile> comparison(const Profiles& profiles, Part part) {
  exporter::SpeedscopeProfile before{.name = "before", .samples = {}};
  exporter::SpeedscopeProfile after{.name = "after", .samples = {}};
  exporter::SpeedscopeProfile increase{.name = "increase", .samples = {}};
  exporter::SpeedscopeProfile decrease{.name = "decrease", .samples = {}};
  const auto changes = profile::difference(selected(profiles.baseline->weights, part), selected(profiles.current.weights, part),
                                           profile::ByVcpu::kTogether);
  for (const profile::Change& change : changes) {
    const uint64_t was = weight_as_quantity(profiles.baseline->input, change.before);
    const uint64_t is = weight_as_quantity(profiles.current.input, change.after);
    before.samples.push_back({change.stack, was});
    after.samples.push_back({change.stack, is});
    increase.samples.push_back({change.stack, is > was ? is - was : 0});
    decrease.samples.push_back({change.stack, was > is ? was - is : 0});
  }
  return {std::move(before), std::move(after), std::move(increase), std::move(decrease)};
}

}  // namespace

exporter::SpeedscopeDocument speedscope_part(const Profiles& profiles, Part part, ProfileList list, std::string name) {
  exporter::SpeedscopeDocument document;
  document.name = std::move(name);
  document.exporter = "qperf@" QPERF_VERSION;
  if (analysis::weight_unit(profiles.current.input) == analysis::WeightUnit::kTicks)
    document.unit = exporter::SpeedscopeUnit::kNanoseconds;
  if (profiles.baseline != nullptr) {
    document.profiles = comparison(profiles, part);
    document.active = 1;
    return document;
  }
  document.profiles.push_back(one_profile(profiles.current, part));
  if (list == ProfileList::kAllTasksAndVcpus) {
    // Tasks are the stacks' root frames.
    auto tasks = profiles_by_root(profiles.names, document.profiles.front().samples);
    std::ranges::move(tasks, std::back_inserter(document.profiles));
  }
  if (list != ProfileList::kAllOnly && !part)
    for (const VcpuIndex vcpu : profiles.vcpus()) document.profiles.push_back(one_profile(profiles.current, vcpu));
  if (list == ProfileList::kAllTasksAndVcpus)
    std::ranges::stable_sort(document.profiles.begin() + 1, document.profiles.end(), std::greater<>{}, weight_of);
  return document;
}

}  // namespace qperf::tools
