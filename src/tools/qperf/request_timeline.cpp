#include "tools/qperf/request_timeline.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <optional>

#include "export/proto_writer.h"
#include "tools/profiles/free_lanes.h"

namespace qperf::tools {
namespace {

using exporter::ProtoWriter;
using qemutrace::Request;
using qemutrace::Stage;

// Field numbers of Perfetto's protos.
namespace trace {
constexpr uint32_t kPacket = 1;
}
namespace packet {
constexpr uint32_t kTimestamp = 8;
constexpr uint32_t kSequenceId = 10;
constexpr uint32_t kTrackEvent = 11;
constexpr uint32_t kTrackDescriptor = 60;
}  // namespace packet
namespace descriptor {
constexpr uint32_t kUuid = 1;
constexpr uint32_t kName = 2;
constexpr uint32_t kParentUuid = 5;
constexpr uint32_t kCounter = 8;
}  // namespace descriptor
namespace track_event {
constexpr uint32_t kAnnotation = 4;
constexpr uint32_t kType = 9;
constexpr uint32_t kTrackUuid = 11;
constexpr uint32_t kName = 23;
constexpr uint32_t kCounterValue = 30;
constexpr uint64_t kBegin = 1;
constexpr uint64_t kEnd = 2;
constexpr uint64_t kCounter = 4;
}  // namespace track_event
namespace annotation {
constexpr uint32_t kName = 10;
constexpr uint32_t kUnsigned = 3;
}  // namespace annotation

// Any numbers, but the same in each file.
constexpr uint64_t kSequence = 1;
constexpr uint64_t kDepthTrack = 2;
constexpr uint64_t kFirstTrack = 16;

uint64_t begin_of(const Request& request) {
  for (const auto& at : request.at_ns) {
    if (at) return *at;
  }
  return 0;
}

uint64_t end_of(const Request& request) {
  uint64_t end = 0;
  for (const auto& at : request.at_ns) end = std::max(end, at.value_or(0));
  return end;
}

class Writer {
 public:
  uint64_t track(const std::string& name, uint64_t parent) {
    const uint64_t uuid = next_track_++;
    ProtoWriter body;
    body.number(descriptor::kUuid, uuid);
    body.bytes(descriptor::kName, name);
    if (parent != 0) body.number(descriptor::kParentUuid, parent);
    emit(std::nullopt, packet::kTrackDescriptor, body);
    return uuid;
  }
  void depth_track() {
    ProtoWriter body;
    body.number(descriptor::kUuid, kDepthTrack);
    body.bytes(descriptor::kName, "requests in flight");
    body.message(descriptor::kCounter, ProtoWriter());
    emit(std::nullopt, packet::kTrackDescriptor, body);
  }
  void begin(uint64_t track, uint64_t at_ns, std::string_view name, const Request* details) {
    ProtoWriter body;
    body.number(track_event::kType, track_event::kBegin);
    body.number(track_event::kTrackUuid, track);
    body.bytes(track_event::kName, name);
    if (details != nullptr && details->is_transfer) {
      annotate(body, "sector", details->sector);
      annotate(body, "sectors", details->sectors);
    }
    if (details != nullptr && details->merged) annotate(body, "merged", 1);
    if (details != nullptr && details->loss_in_span) annotate(body, "events lost meanwhile", 1);
    emit(at_ns, packet::kTrackEvent, body);
  }
  void end(uint64_t track, uint64_t at_ns) {
    ProtoWriter body;
    body.number(track_event::kType, track_event::kEnd);
    body.number(track_event::kTrackUuid, track);
    emit(at_ns, packet::kTrackEvent, body);
  }
  void depth(uint64_t at_ns, uint64_t in_flight) {
    ProtoWriter body;
    body.number(track_event::kType, track_event::kCounter);
    body.number(track_event::kTrackUuid, kDepthTrack);
    body.number(track_event::kCounterValue, in_flight);
    emit(at_ns, packet::kTrackEvent, body);
  }
  [[nodiscard]] std::string take() { return std::move(out_); }

 private:
  static void annotate(ProtoWriter& event, std::string_view name, uint64_t value) {
    ProtoWriter body;
    body.bytes(annotation::kName, name);
    body.number(annotation::kUnsigned, value);
    event.message(track_event::kAnnotation, body);
  }
  void emit(std::optional<uint64_t> at_ns, uint32_t field, const ProtoWriter& body) {
    ProtoWriter one;
    if (at_ns) one.number(packet::kTimestamp, *at_ns);
    one.number(packet::kSequenceId, kSequence);
    one.message(field, body);
    ProtoWriter whole;
    whole.message(trace::kPacket, one);
    out_ += whole.data();
  }

  std::string out_;
  uint64_t next_track_ = kFirstTrack;
};

/// The lanes of one device.
struct Lanes {
  uint64_t parent = 0;
  std::vector<uint64_t> tracks;
  FreeLanes<uint64_t> free;

  uint64_t take(Writer& writer, uint64_t begin_ns, uint64_t end_ns) {
    const uint32_t lane = free.take(begin_ns, end_ns);
    if (lane == tracks.size()) tracks.push_back(writer.track(fmt::format("slot {}", lane), parent));
    return tracks[lane];
  }
};

void write_stages(Writer& writer, uint64_t track, const Request& request, uint64_t end_ns) {
  std::optional<Stage> open;
  uint64_t last_ns = begin_of(request);
  for (size_t i = 0; i < qemutrace::kStages; ++i) {
    if (!request.at_ns[i]) continue;
    last_ns = std::max(last_ns, *request.at_ns[i]);  // stamps of two threads can be swapped by a little
    if (open) writer.end(track, last_ns);
    open.reset();
    if (last_ns >= end_ns) return;
    open = static_cast<Stage>(i);
    writer.begin(track, last_ns, qemutrace::stage_span_name(*open), nullptr);
  }
  if (open) writer.end(track, end_ns);
}

}  // namespace

void RequestTimeline::add(const Request& request) {
  if (requests_.size() >= kMaxRequests) {
    ++left_out_;
    return;
  }
  requests_.push_back(request);
}

std::string RequestTimeline::perfetto(const qemutrace::DeviceNames& names) {
  std::stable_sort(requests_.begin(), requests_.end(),
                   [](const Request& a, const Request& b) { return begin_of(a) < begin_of(b); });
  Writer writer;
  writer.depth_track();
  std::map<uint64_t, Lanes> devices;
  std::vector<std::pair<uint64_t, int>> changes;
  for (const Request& request : requests_) {
    Lanes& lanes = devices[request.device];
    if (lanes.parent == 0)
      lanes.parent = writer.track(names.device(request.device).value_or(fmt::format("device {:#x}", request.device)), 0);
    const uint64_t begin_ns = begin_of(request);
    const uint64_t end_ns = std::max(end_of(request), begin_ns);
    const uint64_t track = lanes.take(writer, begin_ns, end_ns);
    const char* what = !request.is_transfer ? "other" : request.is_write ? "write" : "read";
    writer.begin(track, begin_ns, what, &request);
    write_stages(writer, track, request, end_ns);
    writer.end(track, end_ns);
    changes.emplace_back(begin_ns, 1);
    changes.emplace_back(end_ns, -1);
  }
  std::stable_sort(changes.begin(), changes.end());
  uint64_t depth = 0;
  for (size_t i = 0; i < changes.size(); ++i) {
    depth += static_cast<uint64_t>(static_cast<int64_t>(changes[i].second));
    if (i + 1 == changes.size() || changes[i + 1].first != changes[i].first) writer.depth(changes[i].first, depth);
  }
  return writer.take();
}

}  // namespace qperf::tools
