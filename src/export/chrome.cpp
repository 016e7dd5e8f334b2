#include "export/chrome.h"

#include <fmt/core.h>

#include <algorithm>

namespace qperf::exporter {
namespace {

/// A group is a process of the viewer, a lane a thread; samples have processes of their own. The host has nothing but samples.
constexpr uint64_t kSamplesPid = 1;
constexpr uint64_t pid_of(LaneGroup group) noexcept { return 2 + static_cast<uint64_t>(group); }
constexpr uint64_t tid_of(LaneId lane) noexcept { return 1 + uint64_t{lane.raw}; }

std::string_view process_name(uint64_t pid) noexcept {
  constexpr std::string_view kNames[] = {"samples by vCPU", "vCPUs", "devices", "tasks", "phases", "losses", "host samples"};
  return kNames[pid - 1];
}

}  // namespace

ChromeWriter::ChromeWriter(const profile::NamedStacks& names, SampleSpan span, HostStyle host, TextSink& sink)
    : names_(names), span_(span), host_(host), json_(sink), sink_(sink) {
  json_.begin_object();
  json_.key("displayTimeUnit");
  json_.string("ns");
  json_.key("traceEvents");
  json_.begin_array();
}

void ChromeWriter::begin_event(std::string_view phase, uint64_t pid, uint64_t tid) {
  json_.line_break();
  json_.begin_object();
  json_.key("ph");
  json_.string(phase);
  json_.key("pid");
  json_.number(pid);
  json_.key("tid");
  json_.number(tid);
}

void ChromeWriter::metadata(std::string_view what, uint64_t pid, uint64_t tid, std::string_view name) {
  begin_event("M", pid, tid);
  json_.key("name");
  json_.string(what);
  json_.key("args");
  json_.begin_object();
  json_.key("name");
  json_.string(name);
  json_.end_object();
  json_.end_object();
}

void ChromeWriter::args(std::span<const TimelineDetail> details) {
  if (details.empty()) return;
  json_.key("args");
  json_.begin_object();
  for (const TimelineDetail& detail : details) {
    json_.key(detail.key);
    if (detail.text.empty())
      json_.number(detail.number);
    else
      json_.string(detail.text);
  }
  json_.end_object();
}

void ChromeWriter::process(uint64_t pid) {
  bool& written = process_written_[pid - 1];
  if (!written) metadata("process_name", pid, 0, process_name(pid));
  written = true;
}

void ChromeWriter::lane(LaneId id, LaneGroup group, std::string_view name) {
  group_of_lane_.resize(std::max(group_of_lane_.size(), id.raw + size_t{1}));
  group_of_lane_[id.raw] = group;
  if (group == LaneGroup::kHost) {
    host_threads_.resize(group_of_lane_.size());
    host_threads_[id.raw] = name;
    return;
  }
  process(pid_of(group));
  metadata("thread_name", pid_of(group), tid_of(id), name);
}

void ChromeWriter::complete_event(LaneId lane, const TimelinePart& span, std::span<const TimelineDetail> details) {
  begin_event("X", pid_of(group_of_lane_[lane.raw]), tid_of(lane));
  json_.key("ts");
  json_.thousandths(span.from_ns);
  json_.key("dur");
  json_.thousandths(span.to_ns - span.from_ns);
  json_.key("name");
  json_.string(span.name);
  args(details);
  json_.end_object();
}

void ChromeWriter::slice(const TimelineSlice& slice) {
  complete_event(slice.lane, {.from_ns = slice.from_ns, .to_ns = slice.to_ns, .name = slice.name}, slice.details);
  for (const FlowId flow : {slice.flow, slice.second_flow})
    if (flow.raw != 0) flow_end("f", slice.lane, slice.from_ns, flow);
  for (const TimelinePart& part : slice.parts) complete_event(slice.lane, part, {});
}

void ChromeWriter::instant(const TimelineInstant& instant) {
  begin_event("i", pid_of(group_of_lane_[instant.lane.raw]), tid_of(instant.lane));
  json_.key("s");
  json_.string("t");
  json_.key("ts");
  json_.thousandths(instant.at_ns);
  json_.key("name");
  json_.string(instant.name);
  args(instant.details);
  json_.end_object();
  if (instant.flow.raw != 0) flow_end("s", instant.lane, instant.at_ns, instant.flow);
}

void ChromeWriter::flow_end(std::string_view phase, LaneId lane, WallNs at_ns, FlowId flow) {
  begin_event(phase, pid_of(group_of_lane_[lane.raw]), tid_of(lane));
  json_.key("id");
  json_.number(flow.raw);
  json_.key("ts");
  json_.thousandths(at_ns);
  json_.key("cat");
  json_.string("wake");
  json_.key("name");
  json_.string("wake");
  json_.end_object();
}

void ChromeWriter::begin_frame(const Open& open, WallNs at_ns, std::string_view name) {
  begin_event("B", open.pid, open.tid);
  json_.key("ts");
  json_.thousandths(at_ns);
  json_.key("name");
  json_.string(name);
  json_.end_object();
}

void ChromeWriter::end_frame(const Open& open, WallNs at_ns) {
  begin_event("E", open.pid, open.tid);
  json_.key("ts");
  json_.thousandths(at_ns);
  json_.end_object();
}

void ChromeWriter::close(Open& open, size_t keep, WallNs at_ns) {
  for (; open.frames.size() > keep; open.frames.pop_back()) end_frame(open, at_ns);
}

void ChromeWriter::close_all(Open& open, WallNs at_ns) {
  close(open, 0, at_ns);
  if (open.in_thread) end_frame(open, at_ns);
  open.in_thread = false;
}

ChromeWriter::Open& ChromeWriter::lane_of(const TimelineSample& sample, bool host) {
  const bool by_thread = host && host_.lanes == HostStyle::Lanes::kThreads;
  const uint32_t number = by_thread ? sample.lane.raw : sample.vcpu.raw;
  std::vector<Open>& all = host ? host_open_ : open_;
  if (all.size() <= number) all.resize(number + size_t{1});
  Open& open = all[number];
  if (open.pid == 0) {
    open.pid = host ? pid_of(LaneGroup::kHost) : kSamplesPid;
    open.tid = number + uint64_t{1};
    process(open.pid);
    metadata("thread_name", open.pid, open.tid, by_thread ? host_threads_[number] : fmt::format("cpu{}", number));
  }
  return open;
}

void ChromeWriter::sample(const TimelineSample& sample) {
  const bool host = group_of_lane_[sample.lane.raw] == LaneGroup::kHost;
  Open& open = lane_of(sample, host);
  const WallNs at_ns = std::max(sample.at_ns, open.last_ns);  // a forged file's clock may go back
  if (open.until_ns < at_ns) close_all(open, open.until_ns);
  if (open.in_thread && open.thread != sample.lane) close_all(open, at_ns);
  const auto stack = names_.stacks[sample.stack];
  const auto common = std::ranges::mismatch(open.frames, stack).in1 - open.frames.begin();
  close(open, static_cast<size_t>(common), at_ns);
  if (host && host_.lanes == HostStyle::Lanes::kCpus && !open.in_thread) {
    begin_frame(open, at_ns, host_threads_[sample.lane.raw]);
    open.in_thread = true;
    open.thread = sample.lane;
  }
  for (const profile::FrameId frame : stack.subspan(static_cast<size_t>(common))) {
    begin_frame(open, at_ns, names_.frames[frame].name);
    open.frames.push_back(frame);
  }
  open.last_ns = at_ns;
  const SampleSpan& span = host ? host_.span : span_;
  const uint64_t most_ns = std::max(span.least_ns, profile::saturating_multiply(span.ns_per_weight, sample.weight));
  open.until_ns = profile::saturating_add(at_ns, most_ns);
}

void ChromeWriter::finish() {
  for (std::vector<Open>* all : {&open_, &host_open_})
    for (Open& open : *all) close_all(open, open.until_ns);
  json_.line_break();
  json_.end_array();
  json_.end_object();
  sink_.write("\n");
}

}  // namespace qperf::exporter
