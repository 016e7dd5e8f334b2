#include "tools/qperf/diff_files.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "analysis/units.h"
#include "export/folded.h"
#include "report/dispersion.h"
#include "tools/profiles/html_output.h"
#include "tools/profiles/pprof_output.h"
#include "tools/profiles/short_names.h"
#include "tools/profiles/svg_difference.h"
#include "tools/profiles/weight_words.h"
#include "tools/qperf/pprof_size.h"

namespace qperf::tools {
namespace {

/// Of the first run of the old side and that of the new one.
std::pair<std::string, std::string> side_names(const DiffInput& input) {
  return short_names(input.before_captures.front().profile.input.path, input.after_captures.front().profile.input.path);
}

bool at_one_rate(const std::vector<LoadedCapture>& captures, const LoadedCapture& first) {
  return std::ranges::all_of(captures, [&](const LoadedCapture& capture) {
    return rate_of(capture.profile.input) == rate_of(first.profile.input);
  });
}

/// What a run's nanoseconds or instructions are multiplied by so that its side shows means in the comparison's terms, in the new side's
/// size.
double scale_of(const DiffInput& input, const LoadedCapture& capture, const report::Run& run, size_t runs) {
  double quantity_per_value = 0;
  for (size_t i = 0; i < input.after.size(); ++i)
    if (input.after[i].value_per_weight > 0)
      quantity_per_value += quantity_of_one(input.after_captures[i].profile.input) / input.after[i].value_per_weight;
  quantity_per_value /= static_cast<double>(input.after.size());
  const double quantity = quantity_of_one(capture.profile.input);
  if (quantity_per_value == 0 || quantity == 0) return 1;
  return run.value_per_weight / quantity * quantity_per_value / static_cast<double>(runs);
}

/// One side's runs, each taken as heavy as the heaviest, in nanoseconds or instructions; nullopt: there is one, which stays as it is.
std::optional<HtmlRuns> summed(const std::vector<LoadedCapture>& captures, const std::vector<report::Run>& runs, double dispersion) {
  if (captures.size() == 1) return std::nullopt;
  HtmlRuns side{.runs = {}, .rows = {}, .samples = report::telling_samples(runs, dispersion)};
  const auto quantity_of = [](const LoadedCapture& capture, uint64_t weight) {
    return static_cast<double>(analysis::weight_as_quantity(capture.profile.input, weight));
  };
  double heaviest = 0;
  for (const LoadedCapture& capture : captures) heaviest = std::max(heaviest, quantity_of(capture, capture.profile.weights.total_weight()));
  for (size_t i = 0; i < captures.size(); ++i) {
    side.runs.push_back(&captures[i].profile);
    const double whole = quantity_of(captures[i], captures[i].profile.weights.total_weight());
    for (report::Row row : runs[i].rows) {
      const double scaled = std::round(quantity_of(captures[i], row.weight) * heaviest / std::max(whole, 1.0));
      row.weight = static_cast<uint64_t>(std::min(scaled, 9e15));  // a page counts in doubles
      side.rows.push_back(row);
    }
  }
  return side;
}

}  // namespace

void write_diff_folded(const DiffInput& input, exporter::TextSink& sink) {
  const bool raw = input.before.size() == 1 && input.after.size() == 1 && at_one_rate(input.after_captures, input.before_captures.front());
  std::vector<exporter::FoldedRow> rows;
  const auto add = [&](const std::vector<LoadedCapture>& captures, uint64_t exporter::FoldedRow::* count) {
    for (const LoadedCapture& capture : captures) {
      for (const auto& row : capture.profile.weights.rows()) {
        exporter::FoldedRow folded_row{.root = std::nullopt, .stack = row.stack, .count = 0, .count2 = 0};
        folded_row.*count =
            raw ? row.weight : analysis::weight_as_quantity(capture.profile.input, row.weight) / captures.size();
        rows.push_back(folded_row);
      }
    }
  };
  add(input.before_captures, &exporter::FoldedRow::count);
  add(input.after_captures, &exporter::FoldedRow::count2);
  exporter::write_folded(input.names, rows, exporter::FoldedCounts::kTwo, sink);
}

void write_diff_svg(const DiffInput& input, exporter::TextSink& sink) {
  const LoadedCapture& first = input.after_captures.front();
  const bool raw = at_one_rate(input.after_captures, first);
  std::vector<report::Row> drawn;
  for (size_t i = 0; i < input.after.size(); ++i) {
    for (report::Row row : input.after[i].rows) {
      if (!raw) row.weight = analysis::weight_as_quantity(input.after_captures[i].profile.input, row.weight);
      drawn.push_back(row);
    }
  }
  const analysis::CaptureInput& capture = first.profile.input;
  const auto [before_name, name] = side_names(input);
  const auto warnings = input.warnings();
  write_svg_difference({.name = name, .capture = capture, .warnings = warnings},
                       {.names = input.names,
                        .before = input.before,
                        .after = input.after,
                        .value_unit = input.unit,
                        .before_name = before_name,
                        .drawn = std::move(drawn),
                        .drawn_unit = raw ? weight_words(capture) : quantity_words(capture)},
                       sink);
}

Result<void> write_diff_pprof(const DiffInput& input, exporter::TextSink& sink) {
  std::vector<PprofSide> sides;
  const auto add = [&](const std::vector<LoadedCapture>& captures, const std::vector<report::Run>& runs, PprofSign sign) {
    for (size_t i = 0; i < captures.size(); ++i)
      sides.push_back({.profile = captures[i].profile,
                       .sched = captures[i].sched.get(),
                       .sign = sign,
                       .scale = scale_of(input, captures[i], runs[i], runs.size())});
  };
  add(input.after_captures, input.after, PprofSign::kPlus);
  add(input.before_captures, input.before, PprofSign::kBase);
  const auto bytes = write_pprof(input.names.frames, sides, sink);
  if (!bytes) return bytes.error();
  tell_pprof_size(*bytes);
  return {};
}

Result<void> write_diff_html(DiffInput& input, exporter::TextSink& sink) {
  const LoadedCapture& before = input.before_captures.front();
  const LoadedCapture& after = input.after_captures.front();
  const Profiles profiles{.names = input.names, .current = after.profile, .baseline = &before.profile};
  const auto [before_name, name] = side_names(input);
  const std::string before_runs_name = with_more_runs(before_name, input.before.size());
  const std::string runs_name = with_more_runs(name, input.after.size());
  const auto warnings = input.warnings();
  const bool several = input.before.size() > 1 || input.after.size() > 1;
  const double differ =
      several ? report::dispersion(input.before, input.after, report::keys_by_stable_name(input.names.frames), input.names) : 0;
  const auto before_runs = summed(input.before_captures, input.before, differ);
  const auto runs = summed(input.after_captures, input.after, differ);
  const auto* sched = after.sched.get();
  QPERF_ASSIGN_OR_RETURN(const exporter::HtmlReport report,
                         html_report({.name = runs_name,
                                      .baseline_name = before_runs_name,
                                      .profiles = profiles,
                                      .sched = sched != nullptr && sched->has_events() && !runs ? sched : nullptr,
                                      .warnings = warnings,
                                      .current_runs = runs ? &*runs : nullptr,
                                      .baseline_runs = before_runs ? &*before_runs : nullptr}));
  exporter::write_html_report(report, sink);
  return {};
}

}  // namespace qperf::tools
