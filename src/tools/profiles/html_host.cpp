#include "tools/profiles/html_host.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <tuple>
#include <utility>
#include <vector>

#include "export/markup_text.h"
#include "profile/call_tree.h"

namespace qperf::tools {
namespace {

using profile::BinnedWeights;

/// What lies on the axis; bins are the report's.
std::vector<BinnedWeights::Row> rows_on_axis(const BinnedWeights& sums, const exporter::HtmlTime& time, uint64_t& outside) {
  const uint64_t width = (time.end - time.start) / time.bins;
  std::vector<BinnedWeights::Row> rows;
  for (const auto& row : sums.rows()) {
    const uint64_t at_ns = row.bin * sums.bin_ns();
    if (at_ns < time.start || at_ns >= time.end) {
      outside = profile::saturating_add(outside, row.weight);
      continue;
    }
    rows.push_back(row);
    rows.back().bin = static_cast<uint32_t>((at_ns - time.start) / width);
  }
  return rows;
}

/// Lane of each thread, by weight; 0: it has none.
std::map<uint32_t, uint32_t> add_lanes(const HostView& view, const std::vector<BinnedWeights::Row>& rows, const HtmlLimits& limits,
                                       exporter::HtmlHost& host, exporter::HtmlReport& report) {
  std::map<uint32_t, uint64_t> weights;
  for (const auto& row : rows) weights[row.group] = profile::saturating_add(weights[row.group], row.weight);
  std::vector<std::pair<uint32_t, uint64_t>> threads(weights.begin(), weights.end());
  std::ranges::stable_sort(threads, std::ranges::greater{}, &std::pair<uint32_t, uint64_t>::second);
  std::map<uint32_t, uint32_t> lane_of;
  for (const auto& [thread, weight] : threads) {
    if (host.lanes.size() == limits.device_lanes) break;
    host.lanes.push_back({.id = host.lanes.size() + 1, .name = exporter::clipped(view.thread_name(thread), limits.name_bytes)});
    lane_of[thread] = static_cast<uint32_t>(host.lanes.size());
  }
  if (threads.size() > host.lanes.size())
    report.left_out.push_back(fmt::format("lanes of {} threads of the host with fewer samples than the {} shown; their samples are counted",
                                          threads.size() - host.lanes.size(), host.lanes.size()));
  return lane_of;
}

}  // namespace

void add_host(const HostView& view, const BinnedWeights& sums, const profile::NamedStacks& names, const HtmlLimits& limits, HtmlFrames& frames,
              exporter::HtmlReport& report) {
  exporter::HtmlHost host;
  host.name = view.name;
  uint64_t outside = 0;
  const auto rows = rows_on_axis(sums, report.time, outside);
  if (outside != 0) report.left_out.push_back(fmt::format("{} samples of the host from before the first or after the last that the page has of the guest", outside));
  auto lane_of = add_lanes(view, rows, limits, host, report);

  profile::CallTree tree;
  std::vector<uint64_t> self(1);
  std::map<uint32_t, profile::NodeId> node_of;  // by stack
  for (const auto& row : rows) {
    const auto [position, added] = node_of.try_emplace(row.stack.raw);
    if (added) position->second = tree.node_of(names.stacks[row.stack]);
    self.resize(tree.size());
    self[position->second.raw] = profile::saturating_add(self[position->second.raw], row.weight);
  }
  const auto pruned = profile::prune(tree, tree.totals(self), limits.nodes / 4, frames.synthetic("[rare]"));
  if (pruned.cut != 0)
    report.left_out.push_back(fmt::format("{} places of the host's call tree that weigh least, added up as [rare]", pruned.cut));
  host.tree = frames.encode(pruned.tree);

  std::map<std::tuple<uint32_t, uint32_t, uint32_t>, uint64_t> weights;  // bin, thread, node
  for (const auto& row : rows) {
    uint64_t& sum = weights[{row.bin, lane_of[row.group], pruned.now[node_of[row.stack.raw].raw].raw}];
    sum = profile::saturating_add(sum, row.weight);
  }
  for (const auto& [key, weight] : weights) {
    const auto [bin, thread, node] = key;
    host.bins.add(bin);
    host.threads.add(thread);
    host.nodes.add(node);
    host.weights.add(weight);
  }
  report.host = std::move(host);
}

}  // namespace qperf::tools
