#include "tools/qperf/record/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <vector>

#include "analysis/profile_capture.h"
#include "analysis/report.h"
#include "base/printable.h"
#include "report/costs.h"

namespace qperf::tools {
namespace {

constexpr size_t kShown = 10;

std::vector<report::Cost> sum_functions(const analysis::CaptureProfile& profile, const report::FrameKeys& keys,
                                        const profile::NamedStacks& names) {
  std::vector<report::Row> rows;
  for (const profile::WeightRow& row : profile.weights.rows()) rows.push_back({.stack = row.stack, .weight = row.weight});
  return report::costs_by(keys, rows, names);
}

}  // namespace

Result<std::string> summarize(const std::string& capture) {
  analysis::CaptureRequest request;
  request.path = capture;
  profile::NamedStacks names;
  QPERF_ASSIGN_OR_RETURN(const analysis::CaptureProfile profile, analysis::profile_capture(request, names));
  std::string text;
  const auto line = [&text](std::string_view words) { text += "qperf: " + printable(words) + "\n"; };
  for (const auto& words : analysis::report_lines(profile)) line(words);
  for (const auto& messages : {profile.messages, analysis::weaknesses(profile)}) {
    for (const auto& message : messages)
      line((message.severity == analysis::Severity::kWarning ? "warning: " : "") + message.text);
  }
  const uint64_t total = profile.weights.total_weight();
  if (total == 0) return text;

  const report::FrameKeys keys = report::keys_by_function(names.frames);
  std::vector<report::Cost> costs = sum_functions(profile, keys, names);
  const auto name_of = [&](const report::Cost& cost) -> const std::string& { return names.frames[keys.first_frame[cost.key]].name; };
  std::ranges::sort(costs, [&](const report::Cost& a, const report::Cost& b) {
    return a.self != b.self ? a.self > b.self : name_of(a) < name_of(b);
  });
  text += fmt::format("{:>8} {:>9}  {}\n", "self", "inclusive", "function");
  const auto percent = [total](uint64_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(total); };
  for (size_t i = 0; i < std::min(kShown, costs.size()) && costs[i].self > 0; ++i)
    text += fmt::format("{:>7.2f}% {:>8.2f}%  {}\n", percent(costs[i].self), percent(costs[i].total), name_of(costs[i]));
  return text;
}

}  // namespace qperf::tools
