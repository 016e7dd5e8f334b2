#include "export/svg_words.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "export/markup_text.h"

namespace qperf::exporter {
namespace {

constexpr size_t kNameBytes = 500;
constexpr size_t kNamedGone = 5;

using profile::NodeId;

}  // namespace

std::string compared_value(const SvgComparison& comparison, double value) { return fmt::format("{:.2f} {}", value, comparison.unit); }

std::string compared_difference(const SvgComparison& comparison, double difference) {
  return fmt::format("{:+.2f} {}", difference, comparison.unit == "%" ? "points" : comparison.unit);
}

double shown_difference(const SvgChange& change) noexcept {
  const double difference = change.after - change.before;
  // Sums of equal shares differ in their last bits.
  const bool rounding = std::fabs(difference) <= 1e-9 * std::max(std::fabs(change.before), std::fabs(change.after));
  const bool counts = change.noise && std::fabs(difference) > *change.noise;
  return counts && !rounding ? difference : 0;
}

std::string SvgWords::name_of(NodeId node) const {
  return node.raw == 0 ? "all" : clipped(frames_[picture_.tree.nodes()[node.raw].frame].name, kNameBytes);
}

std::vector<std::string> SvgWords::tooltip(NodeId node) const {
  const uint64_t weight = totals_[node.raw];
  const double percent = totals_[0] == 0 ? 0 : 100 * static_cast<double>(weight) / static_cast<double>(totals_[0]);
  std::vector<std::string> lines{name_of(node), fmt::format("{:.2f} % of all, {}", percent, amount(picture_.unit, weight))};
  if (picture_.comparison) lines.push_back(change_of(node));
  if (node.raw == 0) return lines;
  const profile::Frame& frame = frames_[picture_.tree.nodes()[node.raw].frame];
  if (frame.file.empty()) return lines;
  lines.push_back(clipped(frame.file, kNameBytes));
  if (frame.line != 0) lines.back() += fmt::format(":{}", frame.line);
  return lines;
}

std::string SvgWords::change_of(NodeId node) const {
  const SvgComparison& comparison = *picture_.comparison;
  const SvgChange& change = comparison.changes[node.raw];
  const std::string sides =
      fmt::format("{} before, {} now", compared_value(comparison, change.before), compared_value(comparison, change.after));
  const double difference = shown_difference(change);
  if (!change.noise) return sides + fmt::format(": {}, of unknown noise", compared_difference(comparison, change.after - change.before));
  if (difference == 0) return sides + ": no change beyond the noise";
  return fmt::format("{}: {}{}", sides, compared_difference(comparison, difference), change.before == 0 ? ", new" : "");
}

std::string SvgWords::what_is_gone() const {
  const SvgComparison& comparison = *picture_.comparison;
  const auto nodes = picture_.tree.nodes();
  const auto is_gone = [&](NodeId node) { return totals_[node.raw] == 0 && comparison.changes[node.raw].before > 0; };
  uint64_t count = 0;
  double sum = 0;
  std::map<std::string, double> outermost;  // by name: those whose caller is still there
  for (uint32_t i = 1; i < nodes.size(); ++i) {
    if (!is_gone(NodeId{i})) continue;
    ++count;
    if (nodes[i].parent.raw != 0 && is_gone(nodes[i].parent)) continue;
    sum += comparison.changes[i].before;
    outermost[name_of(NodeId{i})] += comparison.changes[i].before;
  }
  if (count == 0) return fmt::format("no frame of {} is gone", comparison.before);
  std::vector<std::pair<std::string, double>> heaviest(outermost.begin(), outermost.end());
  std::ranges::stable_sort(heaviest, [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text = fmt::format("gone since {}, and not drawn: {} frame{} in its stacks that had {}", comparison.before, grouped(count),
                                 count == 1 ? "" : "s", compared_value(comparison, sum));
  for (size_t i = 0; i < heaviest.size() && i < kNamedGone; ++i)
    text += fmt::format("{}{} {}", i == 0 ? ": " : ", ", clipped(heaviest[i].first, 60), compared_value(comparison, heaviest[i].second));
  if (heaviest.size() > kNamedGone) text += fmt::format(" and {} more", heaviest.size() - kNamedGone);
  return text;
}

std::vector<std::string> SvgWords::notes(const SvgLayout& layout) const {
  std::vector<std::string> lines;
  if (totals_[0] == 0) lines.emplace_back("there is nothing to draw: no weight was selected");
  if (layout.left_out != 0)
    lines.push_back(fmt::format("not drawn, and not found by a search: {} frame{} thinner than {:g} pixels{}", grouped(layout.left_out),
                                layout.left_out == 1 ? "" : "s", layout.least_pixels, layout.rows_cut ? " or above the top row" : ""));
  if (picture_.comparison) {
    lines.push_back(picture_.comparison->what);
    lines.push_back(what_is_gone());
  }
  lines.insert(lines.end(), picture_.notes.begin(), picture_.notes.end());
  return lines;
}

}  // namespace qperf::exporter
