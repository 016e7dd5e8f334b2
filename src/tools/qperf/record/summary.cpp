#include "tools/qperf/record/summary.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "analysis/profile_capture.h"
#include "analysis/report.h"
#include "base/printable.h"

namespace qperf::tools {
namespace {

constexpr size_t kShown = 10;

struct FunctionWeight {
  uint64_t self = 0;
  uint64_t inclusive = 0;
  uint32_t frame = 0;
};

std::vector<FunctionWeight> sum_functions(const analysis::CaptureProfile& profile, const profile::NamedStacks& names) {
  std::vector<FunctionWeight> sums(names.frames.size());
  std::vector<size_t> counted_in(sums.size());  // by the row, from 1: a function that calls itself counts once
  size_t number = 0;
  for (const profile::WeightRow& row : profile.weights.rows()) {
    ++number;
    const auto stack = names.stacks[row.stack];
    for (const profile::FrameId frame : stack) {
      if (counted_in[frame.raw] == number) continue;
      counted_in[frame.raw] = number;
      sums[frame.raw].inclusive += row.weight;
    }
    if (!stack.empty()) sums[stack.back().raw].self += row.weight;
  }
  for (uint32_t i = 0; i < sums.size(); ++i) sums[i].frame = i;
  return sums;
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

  std::vector<FunctionWeight> sums = sum_functions(profile, names);
  std::ranges::sort(sums, [&names](const FunctionWeight& a, const FunctionWeight& b) {
    if (a.self != b.self) return a.self > b.self;
    return names.frames[profile::FrameId{a.frame}].name < names.frames[profile::FrameId{b.frame}].name;
  });
  text += fmt::format("{:>8} {:>9}  {}\n", "self", "inclusive", "function");
  const auto percent = [total](uint64_t part) { return 100.0 * static_cast<double>(part) / static_cast<double>(total); };
  for (size_t i = 0; i < std::min(kShown, sums.size()) && sums[i].self > 0; ++i)
    text += fmt::format("{:>7.2f}% {:>8.2f}%  {}\n", percent(sums[i].self), percent(sums[i].inclusive),
                        names.frames[profile::FrameId{sums[i].frame}].name);
  return text;
}

}  // namespace qperf::tools
