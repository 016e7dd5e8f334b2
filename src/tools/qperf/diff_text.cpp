#include "tools/qperf/diff_text.h"

#include <fmt/core.h>

#include <vector>

#include "analysis/report.h"
#include "base/json_quoted.h"
#include "tools/qperf/diff_tables.h"
#include "tools/qperf/json.h"

namespace qperf::tools {
namespace {

constexpr int kSchemaVersion = 1;

std::string side_json(const std::vector<LoadedCapture>& captures) {
  Table table({{"", "file"}, {"", "samples"}, {"", "weight"}, {"", "complete"}});
  for (const LoadedCapture& capture : captures)
    table.add({cell_text(capture.profile.input.path), cell(capture.profile.tally.samples), cell(capture.profile.tally.weight),
               {"", capture.exit_code() == kDone ? "true" : "false"}});
  return table.json();
}

std::string_view normalize_name(Normalize normalize) {
  switch (normalize) {
    case Normalize::kTotal: return "total";
    case Normalize::kTime: return "time";
    case Normalize::kInstructions: return "instructions";
  }
  return "?";
}

}  // namespace

std::string diff_json(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                      const report::FrameKeys& keys) {
  const report::Change& all = comparison.all;
  JsonObject out;
  out.raw("format", json_quoted("qperf-diff"));
  out.add("version", cell(kSchemaVersion));
  out.raw("normalize", json_quoted(normalize_name(options.normalize)));
  out.raw("unit", json_quoted(input.unit));
  out.raw("before", side_json(input.before_captures));
  out.raw("after", side_json(input.after_captures));
  out.raw("all", fmt::format("{{\"before\": {}, \"after\": {}, \"change\": {}, \"noise\": {}}}", json_number(all.before),
                             json_number(all.after), json_number(all.delta()), all.noise ? json_number(*all.noise) : "null"));
  out.raw("functions", diff_table(comparison, keys, true).json());
  std::vector<std::string> texts;
  for (const auto& warning : input.warnings()) texts.push_back(warning.text);
  out.add("warnings", cell_words(texts));
  return out.text();
}

std::string diff_text(const DiffInput& input, const DiffOptions& options, const report::Comparison& comparison,
                      const report::FrameKeys& keys, Colours colours) {
  std::string out;
  const auto add = [&](std::string_view side, const std::vector<LoadedCapture>& captures) {
    for (const LoadedCapture& capture : captures) out += fmt::format("{} {}\n", side, analysis::headline(capture.profile.input));
  };
  add("before:", input.before_captures);
  add("after: ", input.after_captures);
  return out + fmt::format("numbers are {}\n\n", input.unit == "%" ? "percent of a recording's weight" : input.unit) +
         diff_table(comparison, keys, options.all).text(colours);
}

}  // namespace qperf::tools
