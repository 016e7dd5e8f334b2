#include "tools/profiles/html_devices.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <tuple>
#include <vector>

#include "sched/interval_log.h"
#include "timeline/stage_spans.h"
#include "export/markup_text.h"

namespace qperf::tools {
namespace {

using qemutrace::Stage;
using Row = sched::IntervalLog::Row;

/// Who has the request from a stage on.
enum class Holder : uint8_t { kQueue, kQemu, kHost };
constexpr size_t kHolders = 3;

Holder holder_from(Stage stage) noexcept {
  switch (stage) {
    case Stage::kNotify: return Holder::kQueue;
    case Stage::kSubmit: return Holder::kHost;
    case Stage::kPop:
    case Stage::kHandle:
    case Stage::kBlock:
    case Stage::kHostDone:
    case Stage::kComplete:
    case Stage::kFill:
    case Stage::kInterrupt: break;
  }
  return Holder::kQemu;
}

struct Piece {
  uint32_t lane = 0;
  uint32_t state = 0;
  uint32_t request = 0;  // number among those of the page
  WallNs from_ns = 0;
  WallNs to_ns = 0;
};

/// States of a request: "read: at the host".
class RequestStates {
 public:
  explicit RequestStates(exporter::HtmlReport& report) : report_(report) {}

  uint32_t number(const qemutrace::Request& request, Holder holder) {
    constexpr std::array<std::string_view, kHolders> kWhere = {"in the queue", "in QEMU", "at the host"};
    constexpr std::array<std::string_view, kHolders> kKinds = {"queued", "qemu", "host"};
    const std::string_view kind = request_kind(request);
    const auto at = static_cast<size_t>(holder);
    uint32_t& known = numbers_[kind == "read" ? 0 : kind == "write" ? 1 : 2][at];
    if (known == 0) {
      report_.states.push_back({.name = fmt::format("{}: {}", kind, kWhere[at]), .kind = std::string(kKinds[at])});
      known = static_cast<uint32_t>(report_.states.size());
    }
    return known - 1;
  }

 private:
  exporter::HtmlReport& report_;
  std::array<std::array<uint32_t, kHolders>, 3> numbers_{};
};

/// The requests' stages, neighbours with one holder joined, cut to what the page shows.
std::vector<Piece> pieces_of(const DeviceLanes& devices, exporter::HtmlReport& report, std::vector<const timeline::PlacedRequest*>& requests) {
  RequestStates states(report);
  std::vector<Piece> pieces;
  for (const DeviceLanes::Slice& slice : devices.slices()) {
    const auto number = static_cast<uint32_t>(requests.size());
    bool seen = false;
    const auto add = [&](WallNs from, WallNs to, Holder holder) {
      from = std::max({from, slice.from_ns, report.time.start});
      to = std::min({to, slice.to_ns, report.time.end});
      if (from >= to) return;
      seen = true;
      const uint32_t state = states.number(slice.request->request, holder);
      if (!pieces.empty() && pieces.back().request == number && pieces.back().lane == slice.lane && pieces.back().state == state && pieces.back().to_ns == from)
        pieces.back().to_ns = to;
      else
        pieces.push_back({.lane = slice.lane, .state = state, .request = number, .from_ns = from, .to_ns = to});
    };
    const auto stages = timeline::stage_spans(*slice.request);
    if (stages.empty()) add(slice.from_ns, slice.to_ns, Holder::kQemu);
    for (const auto& stage : stages) {
      if (stage.to_ns > 0)
        add(static_cast<WallNs>(std::max<int64_t>(stage.from_ns, 0)), static_cast<WallNs>(stage.to_ns), holder_from(stage.from));
    }
    if (seen) requests.push_back(slice.request);
  }
  return pieces;
}

exporter::HtmlRequests request_columns(const std::vector<const timeline::PlacedRequest*>& requests) {
  exporter::HtmlRequests columns;
  for (const timeline::PlacedRequest* placed : requests) {
    const auto span = timeline::span_of(*placed);
    columns.sectors.add(placed->request.is_transfer ? placed->request.sector : 0);
    columns.sector_counts.add(placed->request.is_transfer ? placed->request.sectors : 0);
    columns.lengths_ns.add(static_cast<uint64_t>(span.to_ns) - static_cast<uint64_t>(span.from_ns));
  }
  return columns;
}

/// Too many to be shown one by one: alike pieces that begin close together are one, and nobody's sector is told.
std::vector<Piece> joined(const std::vector<Piece>& pieces, const HtmlLimits& limits, exporter::HtmlReport& report) {
  std::vector<Row> rows;
  for (const Piece& piece : pieces)
    rows.push_back({piece.from_ns, piece.to_ns - piece.from_ns, piece.lane, sched::LoggedState::waiting(piece.state)});
  const uint64_t start_at = (report.time.end - report.time.start) / (uint64_t{1} << 14);
  const uint64_t resolution_ns = sched::IntervalLog::join_until(rows, limits.lane_rows, start_at);
  report.left_out.push_back(fmt::format("stages of device requests that begin within {:.1f} us of each other and are alike are drawn as one, "
                                        "without their sectors",
                                        static_cast<double>(resolution_ns) / 1e3));
  std::vector<Piece> few;
  for (const Row& row : rows)
    few.push_back({.lane = row.owner, .state = row.state.entry(), .request = 0, .from_ns = row.from_ns, .to_ns = row.from_ns + row.length_ns});
  return few;
}

}  // namespace

void add_device_lanes(const DeviceView& view, const HtmlLimits& limits, exporter::HtmlReport& report) {
  const DeviceLanes devices(view, limits.device_lanes);
  std::vector<const timeline::PlacedRequest*> requests;
  std::vector<Piece> pieces = pieces_of(devices, report, requests);
  const bool apart = pieces.size() <= limits.lane_rows;
  if (apart)
    report.requests = request_columns(requests);
  else
    pieces = joined(pieces, limits, report);
  std::ranges::sort(pieces, {}, [](const Piece& piece) { return std::make_tuple(piece.lane, piece.from_ns, piece.state, piece.to_ns); });
  for (const std::string& name : devices.names()) {
    exporter::HtmlLane& lane = report.device_lanes.emplace_back();
    lane.name = exporter::clipped(name, limits.name_bytes);
    lane.has_states = true;
  }
  for (const Piece& piece : pieces) {
    exporter::HtmlLane& lane = report.device_lanes[piece.lane];
    lane.from_ns.add(piece.from_ns);
    lane.until_ns.add(piece.to_ns);
    lane.states.add(piece.state);
    if (apart) lane.requests.add(piece.request);
  }
  if (devices.left_out() != 0)
    report.left_out.push_back(fmt::format("{} device requests in flight beside those in the {} lanes shown", devices.left_out(), devices.names().size()));
}

void add_device_words(const DeviceView& view, exporter::HtmlReport& report) {
  const timeline::DeviceTrace& trace = view.traced.trace;
  report.about.emplace_back("QEMU's trace", fmt::format("{} device requests, {} of them outside of the capture's time", trace.requests.size(),
                                                        view.traced.split.outside_requests));
  report.about.emplace_back("its clock", trace.clock.description());
  if (trace.report.incomplete())
    report.warnings.push_back(fmt::format("QEMU's trace has gaps ({} events known to be lost): requests or their stages may be missing",
                                          trace.report.lost_events));
}

}  // namespace qperf::tools
