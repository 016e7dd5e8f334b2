#include "tools/qperf/diff_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <tuple>

#include "tools/qperf/json.h"

namespace qperf::tools {
namespace {

using report::Change;
using report::FunctionChange;

Cell signed_cell(double value) { return {fmt::format("{:+.2f}", value), json_number(value)}; }

Cell noise_cell(const Change& change) {
  return change.noise ? Cell{fmt::format("{:.2f}", *change.noise), json_number(*change.noise)} : Cell{"?", "null"};
}

void add_change(std::vector<Cell>& row, const Change& change) {
  row.push_back(cell_decimal(change.before));
  row.push_back(cell_decimal(change.after));
  row.push_back(signed_cell(change.delta()));
  if (change.counts()) row.back().tone = change.delta() > 0 ? Tone::kWorse : Tone::kBetter;
  row.push_back(noise_cell(change));
}

bool is_shown(const FunctionChange& change) { return change.self.counts() || change.total.counts(); }

std::vector<FunctionChange> by_change(const report::Comparison& comparison, const report::FrameKeys& keys) {
  std::vector<FunctionChange> sorted = comparison.functions;
  std::ranges::sort(sorted, [&](const FunctionChange& a, const FunctionChange& b) {
    const auto key = [&](const FunctionChange& change) {
      // What counts comes first; within it functions before their callers, which have their change from them.
      return std::tuple(!is_shown(change), -std::fabs(change.self.delta()), -std::fabs(change.total.delta()),
                        std::string_view(keys.names[change.key]));
    };
    return key(a) < key(b);
  });
  return sorted;
}

}  // namespace

std::string_view verdict(const FunctionChange& change) {
  if (!is_shown(change)) return "same";
  if (!change.in_before) return "new";
  if (!change.in_after) return "gone";
  const Change& seen = change.self.counts() ? change.self : change.total;
  return seen.delta() > 0 ? "more" : "less";
}

Table diff_table(const report::Comparison& comparison, const report::FrameKeys& keys, bool every_row) {
  Table table({{"Self before", "self_before"},
               {"after", "self_after"},
               {"change", "self_change"},
               {"noise", "self_noise"},
               {"Total before", "total_before"},
               {"after", "total_after"},
               {"change", "total_change"},
               {"noise", "total_noise"},
               {"", "verdict", true},
               {"Now", "", true},
               {"Function", "function", true},
               {"", "in_before"},
               {"", "in_after"}});
  size_t within = 0;
  const auto boolean = [](bool value) { return Cell{"", value ? "true" : "false"}; };
  for (const FunctionChange& change : by_change(comparison, keys)) {
    if (!is_shown(change) && !every_row) {
      ++within;
      continue;
    }
    std::vector<Cell> row;
    add_change(row, change.self);
    add_change(row, change.total);
    row.push_back(cell_text(verdict(change)));
    row.push_back(cell_text(verdict(change)));
    row.push_back(cell_text(keys.names[change.key]));
    row.push_back(boolean(change.in_before));
    row.push_back(boolean(change.in_after));
    table.add(std::move(row));
  }
  const auto note = [&](std::vector<Cell> row, std::string text) {
    row.resize(10, Cell{"", "null"});
    row.push_back({std::move(text), "null"});
    row.resize(13, Cell{"", "null"});
    table.add_note(std::move(row));
  };
  if (within != 0) note({}, fmt::format("[{} more, changed by no more than the noise]", within));
  std::vector<Cell> sums;
  add_change(sums, comparison.all);
  note(std::move(sums), "[all]");
  return table;
}

std::vector<std::string> grown_above(const report::Comparison& comparison, const report::FrameKeys& keys, double percent) {
  struct Growth {
    double percent;
    std::string name;
  };
  std::vector<Growth> grown;
  const auto consider = [&](const Change& change, const std::string& name) {
    if (!change.counts() || change.delta() <= 0) return;
    const double of_all = comparison.all.before > 0 ? 100 * change.delta() / comparison.all.before : 100;
    if (of_all > percent) grown.push_back({of_all, name});
  };
  consider(comparison.all, "[all]");
  for (const FunctionChange& change : comparison.functions) {
    const std::string& name = keys.names[change.key];
    const size_t before = grown.size();
    consider(change.self, name);
    if (grown.size() == before) consider(change.total, name + " (with what it calls)");
  }
  std::ranges::sort(grown, [](const Growth& a, const Growth& b) { return std::tuple(-a.percent, a.name) < std::tuple(-b.percent, b.name); });
  std::vector<std::string> texts;
  for (const Growth& growth : grown) texts.push_back(fmt::format("{} +{:.2f} %", growth.name, growth.percent));
  return texts;
}

}  // namespace qperf::tools
