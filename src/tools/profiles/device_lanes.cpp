#include "tools/profiles/device_lanes.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>
#include <tuple>

#include "timeline/stage_spans.h"
#include "tools/profiles/free_lanes.h"

namespace qperf::tools {
namespace {

using timeline::PlacedRequest;

/// Stamps of one microsecond are one point; a request is drawn all the same.
timeline::RequestSpan visible_span(const PlacedRequest& request) {
  timeline::RequestSpan span = timeline::span_of(request);
  if (span.to_ns == span.from_ns && span.to_ns < std::numeric_limits<int64_t>::max()) ++span.to_ns;
  return span;
}

WallNs as_wall(int64_t ns) noexcept { return static_cast<WallNs>(std::max<int64_t>(ns, 0)); }

}  // namespace

std::string_view request_kind(const qemutrace::Request& request) noexcept {
  if (!request.is_transfer) return "other";
  return request.is_write ? "write" : "read";
}

/// The queues as they are met, each with its lanes.
struct DeviceLanes::Placing {
  struct Queue {
    const PlacedRequest* first = nullptr;
    FreeLanes<int64_t> free;
    uint32_t lanes = 0;
  };
  std::map<uint64_t, Queue> queues;
  size_t lanes = 0;

  /// The number of the lane in its queue, kNoLane beyond `most`.
  uint32_t take(const PlacedRequest& request, size_t most) {
    Queue& queue = queues[request.request.queue];
    if (queue.first == nullptr) queue.first = &request;
    const auto span = visible_span(request);
    if (lanes >= most && !queue.free.has_room(span.from_ns, queue.lanes)) return kNoLane;
    const uint32_t number = queue.free.take(span.from_ns, span.to_ns);
    if (number == queue.lanes) {
      ++queue.lanes;
      ++lanes;
    }
    return number;
  }
};

void DeviceLanes::cut(const PlacedRequest& request, uint32_t lane) {
  const auto span = visible_span(request);
  const WallNs from_ns = as_wall(span.from_ns);
  const WallNs to_ns = as_wall(span.to_ns);
  const auto spans = view_.window.spans();
  for (auto at = std::ranges::upper_bound(spans, from_ns, {}, &sched::TimeSpan::to_ns); at != spans.end() && at->from_ns < to_ns; ++at) {
    const WallNs from = std::max(from_ns, at->from_ns);
    const WallNs to = std::min(to_ns, at->to_ns);
    if (from < to) slices_.push_back({.request = &request, .lane = lane, .from_ns = from, .to_ns = to});
  }
}

DeviceLanes::DeviceLanes(const DeviceView& view, size_t most_lanes) : view_(view) {
  const auto& requests = view.traced.trace.requests;
  std::vector<size_t> order;
  for (size_t i = 0; i < requests.size(); ++i) {
    const auto span = visible_span(requests[i]);
    if (span.to_ns > 0 && view.window.overlap_ns(as_wall(span.from_ns), as_wall(span.to_ns)) > 0) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](size_t i) { return timeline::span_of(requests[i]).from_ns; });
  Placing placing;
  lane_of_request_.assign(requests.size(), kNoLane);
  for (const size_t i : order) {
    lane_of_request_[i] = placing.take(requests[i], most_lanes);
    left_out_ += lane_of_request_[i] == kNoLane ? 1 : 0;
  }
  // Lanes are numbered by their names, not by which request came first.
  std::vector<std::pair<std::string, uint64_t>> queues;
  for (const auto& [address, queue] : placing.queues) queues.emplace_back(view.traced.trace.queue_name(queue.first->request), address);
  std::ranges::sort(queues);
  std::map<uint64_t, uint32_t> first_lane;
  for (const auto& [name, address] : queues) {
    first_lane[address] = static_cast<uint32_t>(names_.size());
    for (uint32_t lane = 0; lane < placing.queues[address].lanes; ++lane)
      names_.push_back(lane == 0 ? name : fmt::format("{} #{}", name, lane + 1));
  }
  for (const size_t i : order) {
    if (lane_of_request_[i] == kNoLane) continue;
    lane_of_request_[i] += first_lane[requests[i].request.queue];
    cut(requests[i], lane_of_request_[i]);
  }
  std::ranges::stable_sort(slices_, {}, [](const Slice& slice) { return std::make_tuple(slice.lane, slice.from_ns); });
}

uint32_t DeviceLanes::lane_of(const PlacedRequest& request) const noexcept {
  const auto& requests = view_.traced.trace.requests;
  if (requests.empty() || &request < requests.data() || &request >= requests.data() + requests.size()) return kNoLane;
  return lane_of_request_[static_cast<size_t>(&request - requests.data())];
}

EndedWaits::EndedWaits(const timeline::Split& split) {
  for (const timeline::SplitWait& wait : split.waits) waits_.emplace(std::pair(wait.wait->task.raw, wait.wait->woken_ns), &wait);
}

const timeline::SplitWait* EndedWaits::find(TaskId task, WallNs woken_ns) const {
  const auto found = waits_.find({task.raw, woken_ns});
  return found == waits_.end() ? nullptr : found->second;
}

}  // namespace qperf::tools
