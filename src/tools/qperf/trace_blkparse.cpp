#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>

#include "base/printable.h"
#include "qemutrace/blkparse.h"
#include "qemutrace/distribution.h"
#include "qemutrace/layers.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/json.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

using qemutrace::Event;
using qemutrace::Layer;
using qemutrace::LayerMatch;
using qemutrace::LayerPattern;

constexpr uint64_t kSectorBytes = 512;
constexpr size_t kMaxRequests = size_t{8} << 20;
constexpr size_t kMostSizes = 4;

/// QEMU's two layers: the device model's requests, and what it hands to the block layer.
class QemuLayers final : public qemutrace::Analyzer {
 public:
  QemuLayers() {
    const auto request = [this](bool is_write) {
      return [this, is_write](const Event& event, uint64_t sector, uint64_t sectors) {
        add(device_, event, is_write, sector, sectors);
      };
    };
    const auto block = [this](bool is_write) {
      return [this, is_write](const Event& event, uint64_t offset, uint64_t bytes) {
        add(block_, event, is_write, offset / kSectorBytes, bytes / kSectorBytes);
      };
    };
    on<uint64_t, uint64_t>("virtio_blk_handle_read", {"sector", "nsectors"}, request(false));
    on<uint64_t, uint64_t>("virtio_blk_handle_write", {"sector", "nsectors"}, request(true));
    on<uint64_t, uint64_t>("blk_co_preadv", {"offset", "bytes"}, block(false));
    on<uint64_t, uint64_t>("blk_co_pwritev", {"offset", "bytes"}, block(true));
    on<uint64_t>("virtio_blk_submit_multireq", {"num_reqs"},
                 [this](const Event&, uint64_t requests) { block_.merged += requests > 1 ? requests - 1 : 0; });
  }
  Layer device_{.name = "QEMU virtio-blk", .requests = {}};
  Layer block_{.name = "QEMU block layer", .requests = {}};
  uint64_t left_out_ = 0;

 private:
  void add(Layer& layer, const Event& event, bool is_write, uint64_t sector, uint64_t sectors) {
    if (sectors == 0 || sector > ~uint64_t{0} - sectors) return;
    if (layer.requests.size() >= kMaxRequests) {
      ++left_out_;
      return;
    }
    layer.requests.push_back({event.time_ns, is_write, sector, sectors});
  }
};

Layer layer_of(const qemutrace::BlkTrace& trace, char action, std::string name) {
  Layer layer{.name = std::move(name), .requests = {}};
  for (const qemutrace::BlkEvent& e : trace.events) {
    if (e.is_discard || (!e.is_read && !e.is_write)) continue;
    if (action == 'D' && (e.action == 'M' || e.action == 'F')) ++layer.merged;
    if (e.action == action) layer.requests.push_back({e.time_ns, e.is_write, e.sector, e.sectors});
  }
  return layer;
}

Result<void> add_blkparse(const std::string& path, const char* where, std::vector<Layer>& layers) {
  if (path.empty()) return {};
  ProgressLine progress(path, STDERR_FILENO);
  qemutrace::Input::Options how;
  how.progress = analysis::progress_of(&progress, "reading blkparse's text");
  QPERF_ASSIGN_OR_RETURN(const qemutrace::BlkTrace trace, qemutrace::load_blkparse(path, std::move(how)));
  progress.clear();
  if (trace.left_out > 0) report_warning(fmt::format("{}: {} events were left out: too many", printable(path), trace.left_out));
  for (const auto& [action, what] : {std::pair{'Q', "queued"}, std::pair{'D', "issued"}}) {
    Layer layer = layer_of(trace, action, fmt::format("{} {}", where, what));
    if (!layer.requests.empty()) layers.push_back(std::move(layer));
  }
  return {};
}

/// "8 x 120, 64 x 3": the most frequent sizes in sectors.
std::string sizes_text(const LayerPattern& pattern) {
  std::vector<std::pair<uint64_t, uint64_t>> sizes(pattern.sizes.begin(), pattern.sizes.end());
  std::stable_sort(sizes.begin(), sizes.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string text;
  for (size_t i = 0; i < sizes.size() && i < kMostSizes; ++i)
    text += fmt::format("{}{} x {}", i == 0 ? "" : ", ", sizes[i].first, sizes[i].second);
  if (sizes.size() > kMostSizes) text += fmt::format(", and {} more", sizes.size() - kMostSizes);
  return text;
}

Table pattern_table(const std::vector<Layer>& layers) {
  Table table({{"Layer", "layer", true},
               {"Requests", "requests"},
               {"Reads", "reads"},
               {"Writes", "writes"},
               {"Sectors", "sectors"},
               {"Mean", "mean_sectors"},
               {"Sequential %", "sequential_percent"},
               {"Merged", "merged"},
               {"Sectors x requests", "sizes", true}});
  for (const Layer& layer : layers) {
    const LayerPattern pattern(layer);
    const auto requests = static_cast<double>(layer.requests.size());
    table.add({cell_text(layer.name), cell(layer.requests.size()), cell(pattern.reads), cell(pattern.writes), cell(pattern.sectors),
               cell_decimal(requests > 0 ? static_cast<double>(pattern.sectors) / requests : 0),
               cell_percent(static_cast<double>(pattern.sequential), requests), cell(layer.merged), cell_text(sizes_text(pattern))});
  }
  return table;
}

Table match_table(const std::vector<Layer>& layers, size_t first_host, int64_t host_offset) {
  Table table({{"From", "from", true},
               {"To", "to", true},
               {"Same", "same"},
               {"Joined", "joined"},
               {"Split", "split"},
               {"Missing", "missing"},
               {"Extra", "extra"},
               {"Reordered", "reordered"},
               {"Delay p50 us", "delay_p50_ns"},
               {"p99", "delay_p99_ns"},
               {"Clocks", "clocks", true}});
  for (size_t i = 0; i + 1 < layers.size(); ++i) {
    const bool into_host = i + 1 == first_host;
    const bool one_clock = layers[i].name.substr(0, 4) == layers[i + 1].name.substr(0, 4);
    const LayerMatch match =
        match_layers(layers[i], layers[i + 1], one_clock ? qemutrace::LayerClocks::kOne : qemutrace::LayerClocks::kTwo,
                     into_host ? host_offset : 0);
    qemutrace::Distribution delays;
    for (const uint64_t ns : match.delays_ns) delays.add(ns);
    // Two layers of one trace share its clock: their delay counts from 0. Otherwise from the least, which hides a constant part.
    const uint64_t base = one_clock && match.least_difference_ns > 0 ? static_cast<uint64_t>(match.least_difference_ns) : 0;
    const auto delay = [&](double share) {
      return cell_us(match.delays_ns.empty() ? std::nullopt : std::optional(delays.quantile(share) + base));
    };
    table.add({cell_text(layers[i].name), cell_text(layers[i + 1].name), cell(match.same), cell(match.joined), cell(match.split),
               cell(match.missing), cell(match.extra), cell(match.reordered), delay(0.5), delay(0.99),
               cell_text(one_clock ? "one" : "two: above the least delay")});
  }
  return table;
}

}  // namespace

int trace_blkparse(const TraceOptions& options) {
  std::vector<Layer> layers;
  if (const auto read = add_blkparse(options.guest_blkparse, "guest", layers); !read) return report_error(read.error());
  QemuLayers qemu;
  const auto analysed = analyse(options, qemu);
  if (!analysed) return report_error(analysed.error());
  if (qemu.left_out_ > 0) report_warning(fmt::format("{} requests of QEMU's were left out: too many", qemu.left_out_));
  for (Layer* layer : {&qemu.device_, &qemu.block_}) {
    if (!layer->requests.empty()) layers.push_back(std::move(*layer));
  }
  const size_t first_host = layers.size();
  if (const auto read = add_blkparse(options.host_blkparse, "host", layers); !read) return report_error(read.error());
  const Table patterns = pattern_table(layers);
  const Table matches = match_table(layers, first_host, options.host_offset);
  if (options.json) {
    JsonObject out = json_of_job("blkparse");
    out.raw("layers", patterns.json());
    out.raw("matches", matches.json());
    out.members(json_report(analysed->report));
    return finish(*analysed, out.text());
  }
  std::string out = layers.empty() ? "no request in any layer\n" : patterns.text(stdout_colours());
  if (!matches.empty())
    out += "\n" + matches.text(stdout_colours()) +
           "\nSame: one request of the same extent; joined: part of a larger one; split: several smaller ones; missing: none (a cache,\n"
           "another place on the device, not recorded); extra: asked for by nobody above; reordered: overtook an earlier one\n";
  return finish(*analysed, out);
}

}  // namespace qperf::tools
