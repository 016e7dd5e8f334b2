#include "timeline/device_trace.h"

#include <fmt/core.h>

#include <utility>

#include "qemutrace/analyzer.h"
#include "qemutrace/ordered.h"
#include "qemutrace/requests.h"

namespace qperf::timeline {

std::string DeviceTrace::queue_name(const qemutrace::Request& request) const {
  if (auto name = names.queue(request.queue)) return *std::move(name);
  const std::string device = names.device(request.device).value_or(fmt::format("device {:#x}", request.device));
  return request.queue_number < 0 ? device : fmt::format("{} queue {}", device, request.queue_number);
}

Result<DeviceTrace> read_device_trace(qemutrace::EventSource& source, qemutrace::Filter* filter, const capture::Summary& capture) {
  DeviceTrace trace;
  std::vector<qemutrace::Request> raw;
  qemutrace::RequestTracker tracker([&](const qemutrace::Request& request) {
    if (raw.size() < DeviceTrace::kMaxRequests) {
      raw.push_back(request);
    } else {
      ++trace.left_out;
    }
  });
  qemutrace::OrderedSource ordered(source);
  qemutrace::run(ordered, tracker, filter);
  trace.report = ordered.report();
  trace.too_late = ordered.too_late();
  trace.names = tracker.names();
  trace.unfinished = tracker.unfinished();
  trace.without_start = tracker.without_start();
  trace.left_out += tracker.left_out();
  // Text tells its clock with its first event.
  QPERF_ASSIGN_OR_RETURN(trace.clock, ClockMap::make(capture, ordered.clock()));
  trace.requests.reserve(raw.size());
  for (const qemutrace::Request& request : raw) trace.requests.push_back(place(request, trace.clock));
  return trace;
}

TracedWaits match_waits(DeviceTrace trace, std::unique_ptr<DiskWaits> waits, const capture::Summary& capture) {
  TracedWaits matched{.trace = std::move(trace), .waits = std::move(waits), .split = {}};
  const WallNs end_ns = capture.trailer ? capture.trailer->end_wall_ns : ~WallNs{0};
  const DiskWaits none;
  matched.split = split_waits(matched.has_waits() ? *matched.waits : none, matched.trace.requests, matched.trace.clock, end_ns);
  return matched;
}

}  // namespace qperf::timeline
