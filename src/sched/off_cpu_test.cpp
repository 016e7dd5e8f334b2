#include "sched/off_cpu.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>

#include "sched/latency.h"
#include "sched/phases.h"
#include "sched/report_json.h"
#include "sched/statistics.h"
#include "sched/task_table.h"
#include "sched/test_support.h"

namespace qperf::sched {
namespace {

constexpr uint64_t kReady = guest::task_state::kReady;
constexpr uint64_t kBlocked = guest::task_state::kBlocked;

StreamBuilder mutex_wait() {
  StreamBuilder stream;
  stream.metadata({0, 10}, 1, 0, 0, "idle");
  stream.metadata({0, 11}, 2, 0, 0, "gc");
  stream.metadata({0, 12}, 9, 4, 5, "waker");
  stream.switch_to({0, 100}, 1, 2, kReady);
  stream.block({0, 200}, 2, 1, 5, 0xffff000000000040, {0x10, 0x20});
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  stream.wake({1, 300}, 2, 1, 9, 1, {0x30, 0x40});
  stream.enqueue({1, 305}, 2, 1, 0, 3, guest::enqueue_reason::kWake);
  stream.switch_to({0, 320}, 1, 2, kReady);
  return stream;
}

TEST(OffCpu, LinesAsDocumented) {
  const Analysed a(mutex_wait().chunks());
  EXPECT_EQ(a.folded(),
            "gc#2;off-cpu/blocked;mutex;0xffff000000000040;0x20;0x10 90\n"
            "gc#2;off-cpu/runnable;enqueue cpu 1->0 depth=3 wake;0x20;0x10 20\n");
}

TEST(OffCpu, WakersAreAppendedLeafFirst) {
  const Analysed a(mutex_wait().chunks(), {}, WakerSide::kAppend);
  EXPECT_NE(a.folded().find("0x20;0x10;--;0x30_[w];0x40_[w];waker[5]_[w];wake by task_[w] 90\n"), std::string::npos) << a.folded();
}

TEST(OffCpu, ALineAfterAPreemptionEndsAtItsEnqueue) {
  StreamBuilder stream;
  stream.switch_to({0, 100}, 1, 2, kReady);
  stream.enqueue({0, 150}, 2, 0, 0, 1, guest::enqueue_reason::kPreempt);
  stream.switch_to({0, 160}, 2, 1, kReady);
  stream.enqueue({0, 170}, 2, 0, 0, 1, 99);
  stream.switch_to({0, 190}, 1, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.folded(),
            "task#2;off-cpu/runnable;enqueue cpu 0->0 depth=1 preempt 10\n"
            "task#2;off-cpu/runnable;enqueue cpu 0->0 depth=1 reason#99 20\n");
}

TEST(OffCpu, TheWindowCutsAndUncertainTimeHasNoReason) {
  const Analysed cut(mutex_wait().chunks(), SpanSet({{250, 310}}));
  EXPECT_EQ(cut.folded(),
            "gc#2;off-cpu/blocked;mutex;0xffff000000000040;0x20;0x10 50\n"
            "gc#2;off-cpu/runnable;enqueue cpu 1->0 depth=3 wake;0x20;0x10 10\n");
  StreamBuilder stream = mutex_wait();
  stream.block({0, 330}, 2, 2, 5, 0xffff000000000040, {0x10});
  stream.switch_to({0, 340}, 2, 1, kBlocked);
  stream.lose(1, capture::EventClass::kWake);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_NE(a.folded().find("[uncertain];gc#2;off-cpu/blocked;0x10 60\n"), std::string::npos) << a.folded();
}

TEST(OffCpu, ASleepsDeadlineIsNoResource) {
  EXPECT_EQ(resource_name(4, 123456), std::nullopt);
  EXPECT_EQ(resource_name(13, 9), "pid=9");
  EXPECT_EQ(resource_name(8, 0x1000), "0x1000");
  EXPECT_EQ(resource_name(99, 0x1000), std::nullopt);
  EXPECT_EQ(resource_name(99, 0xffff000000000040), "0xffff000000000040");
  EXPECT_EQ(resource_name(5, 0), std::nullopt);
}

TEST(OffCpu, NamesStayReadable) {
  EXPECT_EQ(folded_leaf("read 12"), "read 12_");
  EXPECT_EQ(folded_leaf("read 1.5"), "read 1.5_");
  EXPECT_EQ(folded_leaf("task#12"), "task#12");
  EXPECT_EQ(folded_leaf("12"), "12");
  EXPECT_EQ(folded_frame(" a;b\x1b "), "a:b\\x1b");
  EXPECT_EQ(folded_frame("  "), "[unknown]");
  EXPECT_EQ(task_label(TaskId{3}, std::nullopt), "task#3");
  EXPECT_EQ(task_label(TaskId{3}, TaskMetadata{0, 0, 0x20, 0}), "task#3");
  EXPECT_EQ(task_label(TaskId{3}, TaskMetadata{0, 0, 0x3b61, 0}), "a:#3");
  EXPECT_EQ(task_label(TaskId{3}, TaskMetadata{1, 2, 0x61, 0}), "a[2]");
}

TEST(NameHistory, TheNameInForceCounts) {
  NameHistory names;
  const auto metadata = [](std::string_view name) {
    const auto words = guest::trace_name_words(name);
    return TaskMetadata{1, 4, words[0], words[1]};
  };
  names.add(TaskId{1}, 100, metadata("new"));
  names.add(TaskId{1}, 50, metadata("old"));
  names.seal();
  const auto at = [&](uint64_t task, WallNs ns) { return names.labels().text(names.label(TaskId{task}, ns)); };
  EXPECT_EQ(at(1, 49), "task#1");
  EXPECT_EQ(at(1, 50), "old[4]");
  EXPECT_EQ(at(1, 99), "old[4]");
  EXPECT_EQ(at(1, 100), "new[4]");
  EXPECT_EQ(at(2, 100), "task#2");
  EXPECT_EQ(at(UINT64_MAX, 0), "[unknown task]");
}

TaskMetadata named(uint64_t tid, std::string_view name) {
  const auto words = guest::trace_name_words(name);
  return {1, tid, words[0], words[1]};
}

TEST(NameHistory, NamesBeyondTheLimitsAreCountedNotKept) {
  NameHistory names;
  for (uint64_t i = 0; i < kMaxNamesPerTask + 1000; ++i) names.add(TaskId{1}, i, named(1 + i, "n"));
  names.seal();
  EXPECT_EQ(names.labels().size(), kMaxNamesPerTask);
  EXPECT_EQ(names.left_out(), 1000U);
  EXPECT_EQ(names.labels().text(names.label(TaskId{1}, 5000)), "n[256]");

  NameHistory few(2, 5);
  for (uint64_t task = 0; task < 10; ++task) few.add(TaskId{task}, 0, named(task + 1, "n"));
  EXPECT_EQ(few.labels().size(), 2U) << "of two tasks";
  EXPECT_EQ(few.left_out(), 8U);
  for (uint64_t i = 0; i < 10; ++i) few.add(TaskId{0}, i, named(100 + i, "n"));
  EXPECT_EQ(few.labels().size(), 5U);
  EXPECT_EQ(few.left_out(), 15U);
}

TEST(TaskTable, NamesBeyondTheLimitsAreCountedNotKept) {
  TaskTable tasks;
  const auto task = tasks.find_or_add(TaskId{7});
  for (uint64_t i = 0; i < kMaxNamesPerTask + 1000; ++i) tasks.set_metadata(*task, named(1 + i, "n"));
  EXPECT_EQ(tasks.labels().size(), 1 + kMaxNamesPerTask);
  EXPECT_EQ(tasks.names_left_out(), 1000U);
  EXPECT_EQ(tasks.labels().text(tasks[*task].label), "n[256]");
  tasks.set_metadata(*task, named(3, "n"));
  EXPECT_EQ(tasks.labels().text(tasks[*task].label), "n[3]") << "a name that it has had";

  TaskTable few(4);
  for (uint64_t id = 0; id < 10; ++id) few.set_metadata(*few.find_or_add(TaskId{id}), named(id + 1, "n"));
  EXPECT_EQ(few.labels().size(), 2U + 2U + 8U) << "two have both labels; for the others there is room without a name";
  EXPECT_EQ(few.names_left_out(), 8U);
}

TEST(Statistics, WhatIsNotToldApartIsCounted) {
  Window window;
  Statistics statistics(window, {.resources = 2, .pairs = 3});
  Interval wait;
  wait.state = TaskState::kBlocked;
  wait.to_ns = 10;
  const auto add = [&](uint32_t task, uint64_t reason, uint32_t stack) {
    wait.task = TaskIndex{task};
    wait.reason = reason;
    wait.stack = StackId{stack};
    statistics.interval(wait);
  };
  for (uint32_t i = 0; i < 5; ++i) add(i, 5, i);
  add(0, 5, 0);
  add(0, 6, 0);
  add(0, 7, 0);
  add(1, 8, 1);
  EXPECT_EQ(statistics.resources(9)[0].waiters, 3U);
  EXPECT_EQ(statistics.resources(9)[0].waits, 6U);
  EXPECT_EQ(statistics.pairs_left_out().waiters, 3U) << "two tasks of the first resource, one of the second";
  EXPECT_EQ(statistics.pairs_left_out().block_sites, 3U);
  EXPECT_EQ(statistics.other_resources().waits, 2U);
  EXPECT_EQ(statistics.other_resources().wait_ns, 20U);
}

TEST(Phases, NestOverlapRepeatAndStayOpen) {
  StreamBuilder stream;
  stream.phase({0, 10}, 1, "a");
  stream.phase({1, 20}, 1, "b");
  stream.phase({0, 30}, 1, "a");
  stream.phase({1, 40}, 2, "a");
  stream.phase({0, 50}, 2, "a");
  stream.phase({0, 60}, 2, "b");
  stream.phase({0, 70}, 2, "b");
  stream.phase({0, 75}, 3, "b");
  stream.phase({0, 80}, 1, "b");
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 200);
  const PhaseList& phases = a.survey.phases();
  ASSERT_EQ(phases.all().size(), 4U);
  EXPECT_EQ(phases.all()[0].span, (TimeSpan{10, 50}));
  EXPECT_EQ(phases.all()[2].span, (TimeSpan{30, 40}));
  EXPECT_EQ(phases.all()[3].span, (TimeSpan{80, 200}));
  EXPECT_FALSE(phases.all()[3].complete);
  EXPECT_EQ(phases.ends_without_begin(), 1U);
  EXPECT_EQ(phases.unknown_marks(), 1U);
  EXPECT_EQ(phases.select("b", std::nullopt)->overlap_ns(0, 1000), 40U + 120U);
  EXPECT_EQ(phases.select("a", 2)->overlap_ns(0, 1000), 10U);
  EXPECT_NE(phases.select("c", std::nullopt).error().message.find("a (2 occurrences), b (2 occurrences)"), std::string::npos);
  EXPECT_NE(phases.select("a", 3).error().message.find("no occurrence 3"), std::string::npos);
}

TEST(Phases, TheInnermostIsTheOneThatBeganLast) {
  StreamBuilder stream;
  stream.phase({0, 10}, 1, "a");
  stream.phase({1, 20}, 1, "b");
  stream.phase({0, 30}, 1, "a");
  stream.phase({1, 40}, 2, "a");
  stream.phase({0, 50}, 2, "a");
  stream.phase({0, 60}, 2, "b");
  stream.phase({0, 80}, 1, "c");
  stream.phase({0, 80}, 2, "c");
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 200);
  const auto& phases = a.survey.phases().all();
  InnermostPhases innermost(phases);
  const auto at = [&](WallNs ns) {
    const auto phase = innermost.at(ns);
    return phase ? phases[*phase].name + std::to_string(phases[*phase].occurrence) : "-";
  };
  const std::vector<std::pair<WallNs, std::string>> expected = {{0, "-"},   {9, "-"},   {10, "a1"}, {19, "a1"}, {20, "b1"},
                                                                {30, "a2"}, {39, "a2"}, {40, "b1"}, {59, "b1"}, {60, "-"},
                                                                {80, "-"},  {500, "-"}};
  for (const auto& [ns, name] : expected) EXPECT_EQ(at(ns), name) << ns;
  for (size_t i = expected.size(); i-- > 0;) EXPECT_EQ(at(expected[i].first), expected[i].second) << "backwards";
}

TEST(Window, InstructionsGiveEachVcpuItsOwnTime) {
  StreamBuilder stream;
  for (WallNs ns = 100; ns <= 1000; ns += 100) {
    stream.resume({0, ns});  // insns = ns / 2
    stream.resume({1, ns + 1000});
  }
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 0, InsnsWindow{200, 400});
  EXPECT_EQ(a.window.overlap_ns(VcpuIndex{0}, 0, 5000), 400U);
  EXPECT_TRUE(a.window.contains(VcpuIndex{0}, 400));
  EXPECT_FALSE(a.window.contains(VcpuIndex{0}, 800));
  EXPECT_EQ(a.window.overlap_ns(VcpuIndex{1}, 0, 5000), 0U) << "its first record is behind the window's end";
}

TEST(Latency, QuantilesAreOffByLessThanTheStatedError) {
  LatencyHistogram histogram;
  EXPECT_EQ(histogram.quantile_ns(500), 0U);
  std::vector<uint64_t> values;
  uint64_t value = 1;
  for (uint64_t i = 0; i < 5000; ++i) {
    value = (value * 6364136223846793005 + 1442695040888963407);
    values.push_back(value >> (i % 60));
    histogram.add(values.back(), i);
  }
  std::ranges::sort(values);
  for (const uint32_t per_mille : {1U, 100U, 500U, 950U, 990U, 1000U}) {
    const uint64_t exact = values[(values.size() * per_mille + 999) / 1000 - 1];
    const auto found = static_cast<double>(histogram.quantile_ns(per_mille));
    EXPECT_NEAR(found, static_cast<double>(exact), static_cast<double>(exact) / 128.0 + 0.5);
  }
  EXPECT_EQ(histogram.max_ns(), values.back());
}

TEST(Report, IsDeterministicAndHoldsTheSums) {
  const Analysed a(mutex_wait().chunks(3));
  const Analysed b(mutex_wait().chunks());
  HexFrameNames names;
  const auto json = report_json(a.survey, a.window, *a.replay, nullptr, names);
  EXPECT_EQ(json, report_json(b.survey, b.window, *b.replay, nullptr, names));
  EXPECT_NE(json.find("\"label\":\"gc#2\",\"pid\":0,\"tid\":0,\"idle\":false,\"lifetime_ns\":309,\"running_ns\":110,"
                      "\"blocked_ns\":90,\"runnable_ns\":20,\"parked_ns\":0,\"unknown_ns\":89"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"reason\":\"mutex\",\"resource\":\"0xffff000000000040\",\"wait_ns\":90,\"waits\":1,\"unfinished\":0,"
                      "\"waiters\":1,\"block_sites\":[{\"stack\":[\"0x10\",\"0x20\"],\"wait_ns\":90,\"waits\":1}]"),
            std::string::npos)
      << json;
}

TEST(Report, TellsWhatWasLeftOut) {
  StreamBuilder stream = mutex_wait();
  stream.phase({0, 330}, 3, "b");
  stream.phase({0, 340}, 2, "b");
  stream.enqueue({1, 350}, 2, 1, Statistics::kMaxCpus, 3, guest::enqueue_reason::kWake);
  for (uint64_t i = 0; i < kMaxNamesPerTask + 4; ++i) stream.metadata({0, 400 + i}, 9, 4, 1000 + i, "w");
  const Analysed a(stream.chunks());
  HexFrameNames names;
  const auto json = report_json(a.survey, a.window, *a.replay, nullptr, names);
  EXPECT_NE(json.find("\"unknown phase mark\":1"), std::string::npos) << json;
  EXPECT_NE(json.find("\"left_out\":{\"phase_marks\":0,\"phase_ends\":1,\"names\":5,\"enqueues\":1,\"waiters\":0,\"block_sites\":0}"),
            std::string::npos)
      << json;
  EXPECT_NE(json.find("\"other_resources\":{\"wait_ns\":0,\"waits\":0,\"unfinished\":0}"), std::string::npos) << json;
}

TEST(OffCpuPage, HasARowForEveryOddTransition) {
  std::ifstream file(std::string(QPERF_SOURCE_DIR) + "/docs/off-cpu.md");
  const std::string page{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  for (size_t i = 0; i < kOddityCount; ++i) {
    const std::string row = "\n| " + std::string(oddity_name(static_cast<Oddity>(i))) + " | ";
    EXPECT_NE(page.find(row), std::string::npos) << row;
  }
}

}  // namespace
}  // namespace qperf::sched
