#include <array>
#include <string>

#include "analysis/report.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {

analysis::Messages ExportInput::warnings() const {
  analysis::Messages all = capture.warnings();
  if (host != nullptr)
    for (auto& message : host->capture.warnings()) all.push_back({message.severity, host->name + ": " + message.text});
  if (baseline == nullptr) return all;
  for (auto& message : baseline->warnings()) all.push_back({message.severity, std::string(baseline_name) + ": " + message.text});
  for (auto& message : analysis::differences_between(baseline->profile.input, capture.profile.input)) all.push_back(message);
  return all;
}

TimelineInput ExportInput::timeline() const {
  return {.capture = capture.profile, .sched = capture.sched.get(), .vcpus = capture.vcpus, .devices = devices, .host = host == nullptr ? nullptr : &host->view, .progress = progress};
}

std::span<const ExportFormat* const> export_formats() noexcept {
  static constexpr std::array kFormats{
      &kFoldedFormat,
      &kSpeedscopeFormat,
      &kPprofFormat,
      &kPerfettoFormat,
      &kCallgrindFormat,
      &kChromeFormat,
      &kSvgFormat,
      &kHtmlFormat,
  };
  return kFormats;
}

}  // namespace qperf::tools
