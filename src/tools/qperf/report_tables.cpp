#include "tools/qperf/report_tables.h"

#include <fmt/core.h>

#include <algorithm>
#include <tuple>

#include "analysis/report.h"
#include "analysis/units.h"
#include "report/call_tree.h"
#include "report/costs.h"
#include "report/neighbours.h"

namespace qperf::tools {
namespace {

using profile::saturating_add;

const Cell kBlank{"", "null"};

/// The parts of a whole, with what a limit hides.
struct Shares {
  uint64_t whole = 0;  // everything that was selected, before --focus and --ignore
  double percent_limit = 0;

  [[nodiscard]] Cell percent(uint64_t part) const { return cell_percent(static_cast<double>(part), static_cast<double>(whole)); }
  [[nodiscard]] bool shows(uint64_t part) const {
    return static_cast<double>(part) * 100 >= percent_limit * static_cast<double>(whole);
  }
  [[nodiscard]] uint64_t least_weight() const {
    const double least = percent_limit * static_cast<double>(whole) / 100;
    auto weight = static_cast<uint64_t>(least);
    while (!shows(weight)) ++weight;
    return weight;
  }
};

Shares shares_of(const report::Selected& selected, const ReportOptions& options) {
  return {saturating_add(selected.weight, selected.left_out), options.percent_limit};
}

std::string limit_text(double percent) {
  std::string text = fmt::format("{:.3f}", percent);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.ends_with('.')) text.pop_back();
  return text;
}

Cell line_cell(uint32_t line) { return line == 0 ? kBlank : cell(line); }
Cell file_cell(const std::string& file) { return file.empty() ? kBlank : cell_text(file); }

struct NamedCost {
  report::Cost cost;
  std::string name;
};

void sort_costs(std::vector<NamedCost>& costs, ReportSort sort) {
  std::ranges::sort(costs, [sort](const NamedCost& a, const NamedCost& b) {
    const auto key = [sort](const NamedCost& c) {
      const uint64_t self = ~c.cost.self;
      const uint64_t total = ~c.cost.total;
      switch (sort) {
        case ReportSort::kSelf: return std::tuple(self, total, std::string_view(c.name));
        case ReportSort::kTotal: return std::tuple(total, self, std::string_view(c.name));
        case ReportSort::kName: return std::tuple(uint64_t{0}, uint64_t{0}, std::string_view(c.name));
      }
      return std::tuple(self, total, std::string_view(c.name));
    };
    return key(a) < key(b);
  });
}

report::FrameKeys keys_for(ReportBy by, const profile::FrameTable& frames) {
  if (by == ReportBy::kFile) return report::keys_by_file(frames);
  if (by == ReportBy::kLine) return report::keys_by_name(frames);
  return report::keys_by_function(frames);
}

std::string_view title_of(ReportBy by) {
  switch (by) {
    case ReportBy::kFunction: return "Function";
    case ReportBy::kFile: return "File";
    case ReportBy::kLine: return "Line";
    case ReportBy::kTask: return "Task";
    case ReportBy::kCpu: return "vCPU";
    case ReportBy::kPhase: return "Phases";
  }
  return "";
}

/// Rows for what is not shown, and the sum: percent, weight, then blanks up to the title.
void add_sums(Table& table, const Shares& shares, uint64_t hidden_rows, uint64_t hidden, uint64_t left_out, size_t blanks,
              size_t behind) {
  const auto add = [&](uint64_t weight, const std::string& text) {
    std::vector<Cell> row{shares.percent(weight), cell(weight)};
    row.insert(row.end(), blanks, kBlank);
    row.push_back({text, "null"});
    row.insert(row.end(), behind, kBlank);
    table.add_note(std::move(row));
  };
  if (hidden_rows != 0)
    add(hidden, fmt::format("[{} more, each below {} %]", hidden_rows, limit_text(shares.percent_limit)));
  if (left_out != 0) add(left_out, "[left out by --focus and --ignore]");
  add(shares.whole, "[all]");
}

Table cost_table(const ReportInput& input, const report::Selected& selected, const ReportOptions& options) {
  const report::FrameKeys keys = keys_for(options.by, input.names.frames);
  std::vector<NamedCost> costs;
  for (const report::Cost& cost : report::costs_by(keys, selected.rows, input.names))
    costs.push_back({cost, keys.names[cost.key]});
  sort_costs(costs, options.sort);
  const Shares shares = shares_of(selected, options);
  Table table({{"Self %", "self_percent"},
               {"Self", "self"},
               {"Total %", "total_percent"},
               {"Total", "total"},
               {std::string(title_of(options.by)), "", true},
               {"", "name"},
               {"", "file"},
               {"", "line"}});
  uint64_t hidden_rows = 0;
  uint64_t hidden = 0;
  for (const NamedCost& row : costs) {
    if (!shares.shows(options.sort == ReportSort::kSelf ? row.cost.self : row.cost.total)) {
      ++hidden_rows;
      hidden = saturating_add(hidden, row.cost.self);
      continue;
    }
    const profile::Frame& frame = input.names.frames[keys.first_frame[row.cost.key]];
    table.add({shares.percent(row.cost.self), cell(row.cost.self), shares.percent(row.cost.total), cell(row.cost.total),
               cell_text(row.name), cell_text(options.by == ReportBy::kFunction ? frame.name : row.name),
               file_cell(frame.file), options.by == ReportBy::kFile ? kBlank : line_cell(frame.line)});
  }
  add_sums(table, shares, hidden_rows, hidden, selected.left_out, 2, 3);
  return table;
}

/// The function with the most self weight in a group.
struct Hottest {
  std::string name;
  uint64_t self = 0;
};

Hottest hottest_of(std::span<const report::Row> rows, const report::FrameKeys& keys, report::CostSums& sums) {
  Hottest hottest;
  for (const report::Cost& cost : sums.of(rows)) {
    const std::string& name = keys.names[cost.key];
    if (cost.self < hottest.self || (cost.self == hottest.self && !hottest.name.empty() && name >= hottest.name)) continue;
    hottest = {name, cost.self};
  }
  return hottest;
}

Table group_table(const ReportInput& input, const report::Selected& selected, const ReportOptions& options) {
  const Shares shares = shares_of(selected, options);
  const report::FrameKeys keys = report::keys_by_function(input.names.frames);
  report::CostSums sums(keys, input.names);
  std::map<uint32_t, std::vector<report::Row>> by_group;
  for (const report::Row& row : selected.rows) by_group[row.group].push_back(row);
  auto weights = report::weights_by_group(selected.rows);
  std::ranges::stable_sort(weights, [&](const auto& a, const auto& b) {
    if (options.sort == ReportSort::kName) return input.groups.at(a.group) < input.groups.at(b.group);
    return std::tuple(~a.weight, input.groups.at(a.group)) < std::tuple(~b.weight, input.groups.at(b.group));
  });
  Table table({{"%", "percent"},
               {"Weight", "weight"},
               {std::string(title_of(options.by)), "group", true},
               {"Of it %", "hottest_percent"},
               {"", "hottest_self"},
               {"Hottest function", "hottest", true}});
  uint64_t hidden_rows = 0;
  uint64_t hidden = 0;
  for (const auto& [group, weight] : weights) {
    if (!shares.shows(weight)) {
      ++hidden_rows;
      hidden = saturating_add(hidden, weight);
      continue;
    }
    const Hottest hottest = hottest_of(by_group[group], keys, sums);
    table.add({shares.percent(weight), cell(weight), cell_text(input.groups.at(group)),
               cell_percent(static_cast<double>(hottest.self), static_cast<double>(weight)), cell(hottest.self),
               cell_text(hottest.name)});
  }
  add_sums(table, shares, hidden_rows, hidden, selected.left_out, 0, 3);
  return table;
}

/// Deep recursions stay readable: beyond some depth a number stands for the indentation.
std::string indented(const std::string& name, uint32_t depth) {
  constexpr uint32_t kMost = 40;
  if (depth <= kMost) return std::string(size_t{depth} * 2, ' ') + name;
  return std::string(size_t{kMost} * 2, ' ') + fmt::format("(depth {}) {}", depth, name);
}

Table tree_table(const report::CallTree& tree, const ReportInput& input, const Shares& shares, uint64_t left_out,
                 std::string_view elsewhere) {
  Table table({{"Total %", "total_percent"},
               {"Total", "total"},
               {"Self", "self"},
               {"Function", "", true},
               {"", "depth"},
               {"", "name"},
               {"", "file"},
               {"", "line"},
               {"", "left_out_children"}});
  const auto& frames = input.names.frames;
  for (const auto& line : tree.drawing(frames, shares.least_weight())) {
    if (line.hidden_nodes != 0) {
      const std::string text = fmt::format("[{} more, each below {} %]", line.hidden_nodes, limit_text(shares.percent_limit));
      table.add({shares.percent(line.hidden_weight), cell(line.hidden_weight), kBlank, {indented(text, line.depth), "null"},
                 cell(line.depth), kBlank, kBlank, kBlank, cell(line.hidden_nodes)});
      continue;
    }
    const auto& node = tree[line.node];
    const profile::Frame& frame = frames[node.frame];
    table.add({shares.percent(node.total), cell(node.total), cell(node.self), {indented(frame.name, line.depth), ""},
               cell(line.depth), cell_text(frame.name), file_cell(frame.file), line_cell(frame.line), cell(0)});
  }
  const auto note = [&](uint64_t weight, std::string_view text) {
    table.add_note({shares.percent(weight), cell(weight), kBlank, {std::string(text), "null"}, kBlank, kBlank, kBlank, kBlank, kBlank});
  };
  const uint64_t drawn = tree[report::CallTree::kRoot].total;
  if (const uint64_t rest = shares.whole - std::min(shares.whole, saturating_add(drawn, left_out)); rest != 0)
    note(rest, elsewhere);
  if (left_out != 0) note(left_out, "[left out by --focus and --ignore]");
  note(shares.whole, "[all]");
  return table;
}

}  // namespace

Result<Table> report_table(const ReportInput& input, const report::Selected& selected, const ReportOptions& options) {
  const Shares shares = shares_of(selected, options);
  report::CallTree tree;
  switch (options.shape) {
    case ReportShape::kTable:
      if (input.groups.empty() && options.by != ReportBy::kTask && options.by != ReportBy::kCpu && options.by != ReportBy::kPhase)
        return cost_table(input, selected, options);
      return group_table(input, selected, options);
    case ReportShape::kTree:
      for (const report::Row& row : selected.rows) tree.add(input.names.stacks[row.stack], row.weight);
      return tree_table(tree, input, shares, selected.left_out, "");
    case ReportShape::kCallers:
    case ReportShape::kCallees: break;
  }
  const bool callers = options.shape == ReportShape::kCallers;
  auto functions = report::frames_called(options.function, input.names.frames);
  if (!functions) return std::move(functions).error().in(callers ? "--callers" : "--callees");
  tree = report::neighbours(*functions, callers ? report::Side::kCallers : report::Side::kCallees, selected.rows, input.names);
  return tree_table(tree, input, shares, selected.left_out, "[stacks without it]");
}

std::string_view rows_name(const ReportOptions& options) {
  switch (options.shape) {
    case ReportShape::kTree: return "tree";
    case ReportShape::kCallers: return "callers";
    case ReportShape::kCallees: return "callees";
    case ReportShape::kTable: break;
  }
  switch (options.by) {
    case ReportBy::kFunction: return "functions";
    case ReportBy::kFile: return "files";
    case ReportBy::kLine: return "lines";
    case ReportBy::kTask: return "tasks";
    case ReportBy::kCpu: return "vcpus";
    case ReportBy::kPhase: return "phases";
  }
  return "?";
}

Table bucket_table(const LoadedCapture& capture, const profile::VcpuSet& vcpus) {
  Table table({{"%", "percent"}, {"Ticks", "ticks"}, {"Spent in", "bucket", true}});
  const analysis::CaptureInput& input = capture.profile.input;
  if (analysis::weight_unit(input) != analysis::WeightUnit::kTicks || !input.summary.last_ledger) return table;
  const capture::Ticks ticks = analysis::sum_of_ticks(*input.summary.last_ledger, vcpus);
  const auto whole = static_cast<double>(ticks.issued);
  const auto add = [&](std::string_view bucket, uint64_t part) {
    table.add({cell_percent(static_cast<double>(part), whole), cell(part), cell_text(bucket)});
  };
  add("kernel", ticks.kernel);
  add("user", ticks.user);
  if (input.summary.header.idle_known) add("idle", ticks.idle);
  add("other privileged", ticks.other_privileged);
  add("lost", ticks.lost);
  if (ticks.unknown_idle != 0) add("idle or waiting", ticks.unknown_idle);
  table.add_note({cell_percent(whole, whole), cell(ticks.issued), {"[all]", "null"}});
  return table;
}

}  // namespace qperf::tools
