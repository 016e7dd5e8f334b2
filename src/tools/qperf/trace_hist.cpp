#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <vector>

#include "base/json_quoted.h"
#include "qemutrace/histogram.h"
#include "tools/qperf/json.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

using qemutrace::FieldHistogram;

struct Row {
  std::string label;
  uint64_t count;
};

uint64_t power(int exponent) { return uint64_t{1} << exponent; }

/// "[8, 16)" as bounds that the bucket's values lie in, both included.
std::string bounds(int bucket) {
  if (bucket == 0) return "0";
  const int width = bucket < 0 ? -bucket : bucket;
  const uint64_t least = power(width - 1);
  const uint64_t greatest = least + (least - 1);
  if (bucket < 0) return least == greatest ? "-1" : fmt::format("-{}..-{}", greatest, least);
  return least == greatest ? "1" : fmt::format("{}..{}", least, greatest);
}

std::vector<Row> rows_of(const FieldHistogram& histogram) {
  std::vector<Row> rows;
  for (const auto& [bucket, count] : histogram.numbers()) rows.push_back({bounds(bucket), count});
  const size_t numbers = rows.size();
  for (const auto& [text, count] : histogram.strings()) rows.push_back({text, count});
  std::stable_sort(rows.begin() + static_cast<std::ptrdiff_t>(numbers), rows.end(),
                   [](const Row& a, const Row& b) { return a.count > b.count; });
  if (histogram.other_strings() > 0) rows.push_back({"(other strings)", histogram.other_strings()});
  return rows;
}

}  // namespace

int trace_hist(const TraceOptions& options) {
  if (options.field.empty()) return report_error(Error{ErrorCode::kUsage, "name a FIELD behind the file, such as nsectors"});
  auto opened = open(options);
  if (!opened) return report_error(opened.error());
  FieldHistogram histogram(options.field);
  qemutrace::Event event;
  auto& source = opened->source();
  while (source.next(event)) {
    if (opened->filter.keeps(event)) histogram.add(event);
  }
  opened->all_read();
  const auto rows = rows_of(histogram);
  std::string out;
  const auto to = std::back_inserter(out);
  if (options.json) {
    fmt::format_to(to, "{{\"format\": \"qperf-trace-hist\", \"version\": 1, \"field\": {}, \"values\": [", json_quoted(options.field));
    for (size_t i = 0; i < rows.size(); ++i)
      fmt::format_to(to, "{}\n  {{\"value\": {}, \"count\": {}}}", i == 0 ? "" : ",", json_quoted(rows[i].label),
                     rows[i].count);
    fmt::format_to(to, "],\n \"events\": {}, \"without_field\": {}, {}}}\n", histogram.counted(), histogram.without_field(),
                   json_report(source.report()));
  } else {
    size_t width = 5;
    uint64_t most = 1;
    for (const Row& row : rows) width = std::max(width, row.label.size()), most = std::max(most, row.count);
    fmt::format_to(to, "{:<{}} {:>12} {:>6}\n", "Value", width, "Events", "%");
    for (const Row& row : rows) {
      fmt::format_to(to, "{:<{}} {:>12} {:>6.1f} {}\n", row.label, width, row.count,
                     100.0 * static_cast<double>(row.count) / static_cast<double>(histogram.counted()),
                     std::string(static_cast<size_t>(40.0 * static_cast<double>(row.count) / static_cast<double>(most)), '#'));
    }
    fmt::format_to(to, "{} events have the field {}, {} others were passed over\n", histogram.counted(), options.field,
                   histogram.without_field());
  }
  const int written = write_out(out);
  const int complete = conclude(source.report());
  return written != kDone ? written : complete;
}

}  // namespace qperf::tools
