#include "export/timeline_writer.h"

#include <gtest/gtest.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <vector>

#include "export/chrome.h"
#include "export/perfetto.h"
#include "export/proto_test_support.h"

namespace qperf::exporter {
namespace {

using profile::FrameId;
using profile::NamedStacks;
using profile::StackId;

const std::vector<std::string> kHostileNames = {"a;b\nc", "\xff\xfe", std::string("x\0y\x1b[2J", 7), "\"</script>\\", std::string(1 << 20, 'n'), ""};

struct Scene {
  Scene() {
    const auto frame = [&](const std::string& name) { return names.frames.intern({.name = name, .file = "f.c", .line = 3}); };
    const FrameId root = frame("root");
    deep = names.stacks.intern(std::vector{root, frame("a"), frame("b")});
    other = names.stacks.intern(std::vector{root, frame("a"), frame("c")});
    empty = names.stacks.intern(std::vector<FrameId>{});
    for (const std::string& name : kHostileNames) hostile.push_back(names.stacks.intern(std::vector{frame(name)}));
  }

  void play(TimelineWriter& writer) const {
    writer.lane(LaneId{0}, LaneGroup::kVcpu, "cpu0");
    writer.lane(LaneId{1}, LaneGroup::kTask, "init[1]");
    writer.lane(LaneId{2}, LaneGroup::kPhase, "phases");
    writer.lane(LaneId{3}, LaneGroup::kLoss, "cpu0 lost");
    writer.lane(LaneId{4}, LaneGroup::kDevice, "virtio-blk0 queue 0");
    const std::vector<TimelinePart> parts{{.from_ns = 1000, .to_ns = 1100, .name = "queue"}, {.from_ns = 1100, .to_ns = 1400, .name = "host"}};
    writer.slice({.lane = LaneId{4}, .from_ns = 1000, .to_ns = 1400, .name = "read", .details = {}, .flow = {}, .second_flow = {}, .parts = parts});
    writer.instant({.lane = LaneId{4}, .at_ns = 1400, .name = "wake init[1]", .details = {}, .flow = FlowId{10}});
    for (const auto& [at, stack] : std::vector<std::pair<WallNs, StackId>>{{100, deep}, {110, deep}, {120, other}, {125, empty}, {500, deep}, {490, other}})
      writer.sample({.lane = LaneId{at < 120 ? 1U : 0U}, .vcpu = VcpuIndex{0}, .at_ns = at, .weight = 1, .stack = stack});
    const std::vector<TimelineDetail> details{{.key = "resource", .text = "0x1\n"}, {.key = "depth", .text = {}, .number = 7}};
    writer.slice({.lane = LaneId{1}, .from_ns = 0, .to_ns = 1500, .name = "blocked: mutex", .details = details, .flow = {}});
    writer.instant({.lane = LaneId{0}, .at_ns = 1500, .name = "wake init[1]", .details = {}, .flow = FlowId{9}});
    writer.slice({.lane = LaneId{1}, .from_ns = 1500, .to_ns = 1500, .name = "runnable", .details = {}, .flow = FlowId{9}, .second_flow = FlowId{10}});
    writer.slice({.lane = LaneId{1}, .from_ns = 1500, .to_ns = UINT64_MAX, .name = "running", .details = {}, .flow = {}});
    uint32_t lane = 5;
    for (const std::string& name : kHostileNames) {
      writer.lane(LaneId{lane}, LaneGroup::kTask, name);
      writer.slice({.lane = LaneId{lane++}, .from_ns = 1, .to_ns = 2, .name = name, .details = {}, .flow = {}});
    }
    for (const StackId stack : hostile) writer.sample({.lane = LaneId{1}, .vcpu = VcpuIndex{1}, .at_ns = 7, .weight = UINT64_MAX, .stack = stack});
    writer.finish();
  }

  NamedStacks names;
  StackId deep;
  StackId other;
  StackId empty;
  std::vector<StackId> hostile;
};

/// What Perfetto's importer relies on.
struct PerfettoCheck {
  explicit PerfettoCheck(const std::string& bytes) {
    for (const auto& packet : DecodedMessage(bytes).messages(1)) take(packet);
    for (const auto& [track, open] : open_slices) {
      EXPECT_EQ(open, 0) << "track " << track;
    }
    EXPECT_EQ(flow_begins, flow_ends);
  }

  void take(const DecodedMessage& packet) {
    EXPECT_EQ(packet.number(10), 1U);
    EXPECT_EQ(packet.number(13), packets++ == 0 ? 3U : 2U);
    if (packet.count(12) != 0) take_interned(DecodedMessage(packet.text(12)));
    if (packet.count(60) != 0) {
      EXPECT_TRUE(tracks.insert(DecodedMessage(packet.text(60)).number(1)).second);
    }
    if (packet.count(11) != 0) take_event(packet.number(8), DecodedMessage(packet.text(11)));
    if (packet.count(66) != 0) take_sample(DecodedMessage(packet.text(66)));
  }
  void take_interned(const DecodedMessage& interned) {
    for (const uint32_t field : {2U, 3U, 5U, 18U, 6U, 7U}) {
      for (const auto& entry : interned.messages(field)) {
        EXPECT_EQ(entry.number(1), ++last_iid[field]) << "dense, in order, never twice";
        if (field == 6) {
          EXPECT_LE(entry.number(2), last_iid[5]);
          EXPECT_LE(entry.number(5), last_iid[18]);
        }
        if (field != 7) continue;
        for (const uint64_t frame : entry.numbers(2)) {
          EXPECT_TRUE(frame > 0 && frame <= last_iid[6]);
        }
      }
    }
  }
  void take_event(uint64_t at_ns, const DecodedMessage& event) {
    EXPECT_TRUE(tracks.contains(event.number(11)));
    if (event.number(9) != 3) {
      EXPECT_GE(at_ns, last_ns[event.number(11)]) << "one lane's slices come in order";
      last_ns[event.number(11)] = at_ns;
    }
    for (const auto& annotation : event.messages(4)) EXPECT_LE(annotation.number(1), last_iid[3]);
    if (event.number(9) == 2) {
      EXPECT_GE(--open_slices[event.number(11)], 0);
      return;
    }
    EXPECT_TRUE(event.number(10) > 0 && event.number(10) <= last_iid[2]);
    if (event.number(9) == 1) {
      ++slices;
      EXPECT_LE(++open_slices[event.number(11)], 2) << "a slice's parts have none";
    }
    for (const uint64_t flow : event.numbers(47)) flow_begins.insert(flow);
    for (const uint64_t flow : event.numbers(48)) flow_ends.insert(flow);
  }
  void take_sample(const DecodedMessage& sample) {
    ++samples;
    EXPECT_TRUE(sample.number(4) > 0 && sample.number(4) <= last_iid[7]);
    EXPECT_GE(sample.number(6), last_count[sample.number(1)]) << "a running count";
    last_count[sample.number(1)] = sample.number(6);
  }

  size_t packets = 0;
  size_t samples = 0;
  size_t slices = 0;
  std::set<uint64_t> tracks;
  std::map<uint32_t, uint64_t> last_iid;
  std::map<uint64_t, int> open_slices;
  std::map<uint64_t, uint64_t> last_ns;
  std::map<uint64_t, uint64_t> last_count;
  std::set<uint64_t> flow_begins;
  std::set<uint64_t> flow_ends;
};

TEST(Perfetto, DefinesBeforeUseAndEndsWhatItBegins) {
  const Scene scene;
  StringSink sink;
  const PerfettoTimebase timebase{.name = "wall", .instructions = false, .period = 1000};
  PerfettoWriter writer(scene.names, timebase, sink);
  scene.play(writer);
  const PerfettoCheck check(sink.text());
  EXPECT_EQ(check.samples, 6 + kHostileNames.size());
  EXPECT_EQ(check.slices, 3 + 1 + 2 + kHostileNames.size()) << "a request with two parts beside the task's";
  EXPECT_EQ(check.flow_begins, (std::set<uint64_t>{9, 10}));
  EXPECT_EQ(check.last_count.at(1), UINT64_MAX) << "weights stop at the largest value";
}

/// Slices per (pid, tid) after X, B and E are replayed; B and E must match and not run backwards.
TEST(Chrome, IsStrictJsonWithBalancedSlices) {
  const Scene scene;
  StringSink sink;
  ChromeWriter writer(scene.names, {.ns_per_weight = 20, .least_ns = 0}, {.lanes = HostStyle::Lanes::kCpus}, sink);
  scene.play(writer);
  const auto file = nlohmann::json::parse(sink.text());
  std::map<std::pair<int, int>, std::vector<std::pair<std::string, double>>> open;
  std::map<std::pair<int, int>, double> last;
  std::map<std::string, double> drawn;
  std::map<uint64_t, std::string> flows;
  std::set<std::pair<int, int>> named;
  for (const auto& event : file.at("traceEvents")) {
    const std::pair<int, int> thread{event.at("pid"), event.at("tid")};
    const std::string phase = event.at("ph");
    if (phase == "M") {
      named.insert(thread);
      continue;
    }
    EXPECT_TRUE(named.contains(thread));
    const double at = event.at("ts");
    if (phase == "s" || phase == "f") flows[event.at("id")] += phase;
    if (phase == "B") open[thread].push_back({event.at("name"), at});
    if (phase == "E") {
      ASSERT_FALSE(open[thread].empty());
      drawn[open[thread].back().first] += at - open[thread].back().second;
      open[thread].pop_back();
    }
    if (phase == "B" || phase == "E") {
      EXPECT_GE(at, last[thread]);
      last[thread] = at;
    }
    if (phase == "X") {
      EXPECT_GE(event.at("dur").get<double>(), 0.0);
    }
  }
  for (const auto& [thread, slices] : open) {
    EXPECT_TRUE(slices.empty());
  }
  EXPECT_EQ(flows, (std::map<uint64_t, std::string>{{9, "sf"}, {10, "sf"}}));
  // 100..120 in b, 120..125 in c, 125..500 nothing, 500 in b for no time (the clock went back), then 20 in c.
  EXPECT_NEAR(drawn["root"], 0.025 + 0.020, 1e-9);
  EXPECT_NEAR(drawn["b"], 0.020, 1e-9);
  EXPECT_NEAR(drawn["c"], 0.005 + 0.020, 1e-9);
}

}  // namespace
}  // namespace qperf::exporter
