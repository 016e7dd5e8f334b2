#pragma once

#include <string_view>
#include <vector>

#include "analysis/sched_view.h"
#include "export/html_report.h"
#include "report/row.h"
#include "tools/profiles/device_lanes.h"
#include "tools/profiles/host_view.h"
#include "tools/profiles/profiles.h"

namespace qperf::tools {

/// Several runs as one side of a comparison: their sum, without an axis of time.
struct HtmlRuns {
  std::vector<const analysis::CaptureProfile*> runs;
  std::vector<report::Row> rows;  // of all, each run as heavy as the heaviest; analysis::weight_as_quantity()
  uint64_t samples = 0;           // behind them: report::telling_samples()
};

/// What the host did meanwhile.
struct HtmlHostInput {
  const HostView& view;
  profile::BinnedWeights sums;  // binned_host()
};

/// What an HTML report is made from. `profiles.current` was read with Order::kBins, its baseline in any order.
struct HtmlInput {
  std::string_view name;  // of the capture, without its folders
  std::string_view baseline_name = {};
  const Profiles& profiles;
  const analysis::SchedView* sched = nullptr;  // with SchedRequest::intervals; nullptr: the capture has no events
  const analysis::Messages& warnings;
  const DeviceView* devices = nullptr;  // nullptr: without QEMU's trace
  const HtmlHostInput* host = nullptr;  // nullptr: without a profile of the host
  const HtmlRuns* current_runs = nullptr;  // instead of profiles.current, which is the first of them
  const HtmlRuns* baseline_runs = nullptr;
};

/// How much of it the page may hold.
struct HtmlLimits {
  size_t nodes = size_t{1} << 20;
  size_t sample_rows = size_t{3} << 18;
  size_t wait_rows = size_t{1} << 18;
  size_t lane_rows = size_t{1} << 18;
  size_t task_lanes = 200;
  size_t device_lanes = 64;
  size_t phases = 1000;
  size_t wait_states = 1000;     // what tasks wait for, told apart in their lanes
  size_t name_bytes = 1000;      // of one name
  size_t word_bytes = 64 << 10;  // of one line about the capture

  /// A part of all but the last; of names only where the divisor is so large that they must be what fills the page.
  [[nodiscard]] HtmlLimits divided_by(size_t divisor) const noexcept;
};

/// The bytes that a report is made to stay below.
inline constexpr size_t kMaxHtmlBytes = 19'000'000;

/// The whole report. What does not fit is added up more coarsely or left out, and the report says so. Error: it cannot be made to stay
/// below kMaxHtmlBytes.
[[nodiscard]] Result<exporter::HtmlReport> html_report(const HtmlInput& input);
[[nodiscard]] exporter::HtmlReport html_report(const HtmlInput& input, const HtmlLimits& limits);

}  // namespace qperf::tools
