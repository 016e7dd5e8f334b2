#include <optional>
#include <utility>

#include "tools/profiles/html_output.h"
#include "tools/qperf/export_format.h"

namespace qperf::tools {
namespace {

Result<void> write(const ExportInput& input, exporter::TextSink& sink) {
  const Profiles profiles{.names = input.names,
                          .current = input.capture.profile,
                          .baseline = input.baseline == nullptr ? nullptr : &input.baseline->profile};
  const auto* sched = input.capture.sched.get();
  const auto warnings = input.warnings();
  std::optional<HtmlHostInput> host;
  if (input.host != nullptr) {
    QPERF_ASSIGN_OR_RETURN(auto sums, binned_host(input.host->view, analysis::end_of(input.capture.profile.input)));
    host.emplace(HtmlHostInput{.view = input.host->view, .sums = std::move(sums)});
  }
  const HtmlInput page{.name = input.name,
                       .baseline_name = input.baseline_name,
                       .profiles = profiles,
                       .sched = sched != nullptr && sched->has_events() ? sched : nullptr,
                       .warnings = warnings,
                       .devices = input.devices,
                       .host = host ? &*host : nullptr};
  QPERF_ASSIGN_OR_RETURN(const exporter::HtmlReport report, html_report(page));
  exporter::write_html_report(report, sink);
  return {};
}

}  // namespace

const ExportFormat kHtmlFormat{.name = "html",
                               .summary = "one page for a browser: flame graph, timeline, off-CPU time, table",
                               .needs = {.order = analysis::Order::kBins, .timeline_if_events = true},
                               .write = write,
                               .compares = true,
                               .draws_time = true};

}  // namespace qperf::tools
