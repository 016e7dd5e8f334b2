#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <numeric>
#include <sstream>

#include "capture/reader.h"
#include "csv_capture.h"
#include "sched/replay.h"
#include "sched/report_json.h"
#include "sched/survey.h"

/// A real kernel's events through encoder, decoder and analysis, against the plain count that came with them.
namespace qperf::sched {
namespace {

std::string folder() {
  const char* const data = std::getenv("QPERF_TEST_DATA");
  return data == nullptr ? std::string() : std::string(data) + "/pulseos-events";
}

class VectorSink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> all;
};

/// Names by return address from the symbols file; hex for others.
class TsvNames final : public FrameNames {
 public:
  explicit TsvNames(const std::string& path) {
    std::ifstream file(path);
    for (std::string line; std::getline(file, line);) {
      const size_t tab = line.find('\t');
      names_[std::stoull(line.substr(0, tab), nullptr, 16)] = line.substr(tab + 1, line.find('\t', tab + 1) - tab - 1);
    }
  }
  std::vector<std::string> frames(GuestVa address) override {
    const auto found = names_.find(address.raw);
    return found == names_.end() ? HexFrameNames().frames(address) : std::vector{found->second};
  }

 private:
  std::map<uint64_t, std::string> names_;
};

class Pulseos : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    VectorSink sink;
    const auto written = csv_to_capture(folder() + "/smp2.csv", sink);
    ASSERT_TRUE(written.ok()) << written.error().message;
    bytes = new std::vector<std::byte>(std::move(sink.all));
  }
  static void TearDownTestSuite() { delete bytes; }

  void read(const std::function<void(const capture::EventChunk&)>& on_chunk) {
    capture::Handlers handlers;
    handlers.events = [&](const capture::EventChunk& chunk) {
      on_chunk(chunk);
      return Result<void>();
    };
    const auto summary = capture::read_capture(*bytes, "smp2", handlers);
    ASSERT_TRUE(summary.ok()) << summary.error().message;
    EXPECT_TRUE(summary->integrity.whole());
  }
  void analyse(const char* phase = nullptr) {
    read([&](const auto& chunk) { survey.chunk(chunk); });
    survey.finish(2);
    if (phase != nullptr) {
      auto spans = survey.phases().select(phase, 1);
      ASSERT_TRUE(spans.ok()) << spans.error().message;
      window = survey.window(*spans);
    }
    replay = std::make_unique<Replay>(survey, window, WakerSide::kAppend);
    read([&](const auto& chunk) { replay->chunk(chunk); });
    replay->finish();
  }
  std::map<uint64_t, std::pair<uint64_t, uint64_t>> waits_by_reason() const {  // waits, unfinished
    std::map<uint64_t, std::pair<uint64_t, uint64_t>> sums;
    for (const TaskStatistics& task : replay->statistics().tasks()) {
      for (const ReasonTime& time : task.by_reason) {
        sums[time.reason].first += time.waits;
        sums[time.reason].second += time.unfinished;
      }
    }
    return sums;
  }

  static std::vector<std::byte>* bytes;
  Survey survey;
  Window window;
  std::unique_ptr<Replay> replay;
};
std::vector<std::byte>* Pulseos::bytes = nullptr;

TEST_F(Pulseos, CountsByKind) {
  analyse();
  const capture::EventCounts expected{0, 217, 938, 370, 365, 102, 837, 10, 627, 625};
  EXPECT_EQ(survey.counts(), expected);
  EXPECT_EQ(survey.drops(), capture::EventCounts{});
  EXPECT_EQ(survey.missing_events(), 0U);
}

TEST_F(Pulseos, WaitsByReasonAndThoseNeverWoken) {
  analyse();
  const auto waits = waits_by_reason();
  std::map<uint64_t, uint64_t> counts;
  uint64_t unfinished = 0;
  for (const auto& [reason, sums] : waits) {
    counts[reason] = sums.first;
    unfinished += sums.second;
  }
  const std::map<uint64_t, uint64_t> expected{{12, 156}, {1, 130}, {13, 53}, {10, 10}, {15, 9}, {2, 7}, {4, 3}, {16, 1}, {5, 1}};
  EXPECT_EQ(counts, expected);
  EXPECT_EQ(unfinished, 5U);
}

TEST_F(Pulseos, NothingInItIsContradictory) {
  analyse();
  const auto& odd = replay->oddities();
  for (size_t i = 0; i < odd.size(); ++i) EXPECT_EQ(odd[i], 0U) << oddity_name(static_cast<Oddity>(i));
}

TEST_F(Pulseos, PhasesAsCounted) {
  analyse();
  std::map<std::string, TimeSpan> spans;
  for (const Phase& phase : survey.phases().all()) {
    EXPECT_TRUE(phase.complete);
    EXPECT_EQ(phase.occurrence, 1U);
    spans[phase.name] = phase.span;
  }
  const std::map<std::string, TimeSpan> expected{{"buildstorm", {888419859, 4582016665}},
                                                 {"compute", {888878491, 1360998645}},
                                                 {"pipes", {1361468503, 1773582536}},
                                                 {"files", {1773706390, 2536082842}},
                                                 {"sleep", {2536248538, 4581734856}}};
  EXPECT_EQ(spans, expected);
}

TEST_F(Pulseos, TheSleeperIsBlockedForAlmostAllOfThePhaseSleep) {
  analyse("sleep");
  const uint64_t phase_ns = 4581734856 - 2536248538;
  uint64_t slept = 0;  // by the one that slept longest: two others nap in the background
  for (const TaskStatistics& task : replay->statistics().tasks()) {
    for (const ReasonTime& time : task.by_reason) slept = std::max(slept, time.reason == 4 ? time.ns : 0);
  }
  EXPECT_GT(slept, phase_ns * 95 / 100);
  EXPECT_LE(slept, phase_ns);
}

TEST_F(Pulseos, BlockSitesAreNamedAndSumsHold) {
  for (const char* phase : {static_cast<const char*>(nullptr), "compute", "pipes", "files", "sleep", "buildstorm"}) {
    SCOPED_TRACE(phase == nullptr ? "all" : phase);
    survey = Survey();
    window = Window();
    analyse(phase);
    TsvNames names(folder() + "/smp2.symbols.tsv");
    uint64_t weights = 0;
    uint64_t hex_leaves = 0;
    for (const OffCpuLine& line : replay->off_cpu_lines(nullptr, names)) {
      weights += line.weight_ns;
      EXPECT_NE(line.frames.front(), "[uncertain]");
      EXPECT_EQ(line.frames.back(), folded_leaf(line.frames.back()));
      for (const std::string& frame : line.frames) hex_leaves += frame.starts_with("0xffffffc0804") ? 1 : 0;
    }
    EXPECT_EQ(hex_leaves, 0U);
    uint64_t waiting = 0;
    const auto& tasks = replay->statistics().tasks();
    for (uint32_t i = 0; i < tasks.size(); ++i) {
      const TaskStatistics& task = tasks[i];
      EXPECT_EQ(task.lifetime_ns, task.unknown.ns + task.running.ns + task.blocked.ns + task.runnable.ns);
      if (!replay->is_idle(TaskIndex{i})) waiting += task.blocked.ns + task.runnable.ns;
    }
    EXPECT_EQ(weights, waiting);
    for (const VcpuStatistics& cpu : replay->statistics().vcpus()) EXPECT_EQ(cpu.running_ns + cpu.unknown_ns, cpu.window_ns);
  }
}

TEST_F(Pulseos, BothIdleTasksAreRecognizedAndStayTwo) {
  analyse();
  std::vector<std::string> idle;
  for (uint32_t i = 0; i < replay->tasks().size(); ++i) {
    if (replay->is_idle(TaskIndex{i})) idle.push_back(replay->tasks().labels().text(replay->tasks()[TaskIndex{i}].label));
  }
  EXPECT_EQ(idle, (std::vector<std::string>{"idle#1", "idle#6"}));
}

}  // namespace
}  // namespace qperf::sched

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  if (!std::filesystem::exists(qperf::sched::folder() + "/smp2.csv")) {
    std::puts("skipped: QPERF_TEST_DATA has no pulseos-events/smp2.csv");
    return 77;
  }
  return RUN_ALL_TESTS();
}
