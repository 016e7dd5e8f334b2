#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <random>
#include <tuple>

#include "sched/random_stream.h"

/// The sums that must hold on every capture, on legal streams against the slow model, on illegal ones by themselves.
namespace qperf::sched {
namespace {

uint64_t overlap(TimeSpan window, WallNs from, WallNs to) {
  const WallNs first = std::max(window.from_ns, from);
  const WallNs last = std::min(window.to_ns, to);
  return first < last ? last - first : 0;
}

uint64_t folded_sum(const Analysed& a) {
  HexFrameNames names;
  uint64_t sum = 0;
  for (const OffCpuLine& line : a.replay->off_cpu_lines(nullptr, names)) sum += line.weight_ns;
  return sum;
}

/// What must hold whatever the events were.
void expect_sums(const Analysed& a, TimeSpan window) {
  const auto& statistics = a.replay->statistics();
  const WallNs end = a.survey.end_ns();

  // Intervals of a task follow each other; nothing runs backwards; nothing runs twice.
  std::map<uint32_t, WallNs> task_end;
  std::map<uint32_t, std::vector<TimeSpan>> on_vcpu;
  std::map<uint32_t, std::array<uint64_t, kTaskStateCount>> sums;
  for (const Interval& one : a.intervals) {
    ASSERT_LE(one.from_ns, one.to_ns);
    ASSERT_LE(one.to_ns, end);
    auto& last = task_end[one.task.raw];
    ASSERT_GE(one.from_ns, last) << "task " << one.task.raw;
    last = one.to_ns;
    sums[one.task.raw][static_cast<size_t>(one.state)] += overlap(window, one.from_ns, one.to_ns);
    if (one.state == TaskState::kRunning) on_vcpu[one.vcpu.raw].push_back({one.from_ns, one.to_ns});
  }
  uint64_t waiting = 0;
  for (uint32_t i = 0; i < statistics.tasks().size(); ++i) {
    const TaskStatistics& task = statistics.tasks()[i];
    EXPECT_EQ(task.unknown.ns, sums[i][static_cast<size_t>(TaskState::kUnknown)]);
    EXPECT_EQ(task.running.ns, sums[i][static_cast<size_t>(TaskState::kRunning)]);
    EXPECT_EQ(task.blocked.ns, sums[i][static_cast<size_t>(TaskState::kBlocked)]);
    EXPECT_EQ(task.runnable.ns, sums[i][static_cast<size_t>(TaskState::kRunnable)]);
    EXPECT_EQ(task.lifetime_ns, task.unknown.ns + task.running.ns + task.blocked.ns + task.runnable.ns);
    const auto by_reason = std::accumulate(task.by_reason.begin(), task.by_reason.end(), uint64_t{0},
                                           [](uint64_t sum, const ReasonTime& time) { return sum + time.ns; });
    EXPECT_EQ(by_reason + task.blocked.uncertain_ns, task.blocked.ns);
    if (!a.replay->is_idle(TaskIndex{i})) waiting += task.blocked.ns + task.runnable.ns;
  }
  EXPECT_EQ(folded_sum(a), waiting);

  // On each vCPU the tasks' runs and the spans with an unknown task fill all of time, once.
  for (const auto& span : a.unknown) on_vcpu[span.vcpu.raw].push_back({span.from_ns, span.to_ns});
  for (uint32_t v = 0; v < a.survey.vcpus(); ++v) {
    auto& spans = on_vcpu[v];
    std::ranges::sort(spans, {}, [](const TimeSpan& span) { return std::pair(span.from_ns, span.to_ns); });
    WallNs at = 0;
    for (const TimeSpan& span : spans) {
      ASSERT_EQ(span.from_ns, at) << "vcpu " << v;
      at = span.to_ns;
    }
    EXPECT_EQ(at, end) << "vcpu " << v;
    const VcpuStatistics& cpu = statistics.vcpus()[v];
    EXPECT_EQ(cpu.running_ns + cpu.unknown_ns, cpu.window_ns);
    EXPECT_LE(a.replay->busy_ns(VcpuIndex{v}), cpu.running_ns);
  }
}

TimeSpan random_window(std::mt19937_64& random, WallNs end) {
  if (random() % 3 == 0) return {0, UINT64_MAX};
  const WallNs one = random() % end;
  const WallNs other = random() % end;
  return {std::min(one, other), std::max(one, other) + 1};
}

TEST(Invariants, LegalStreamsAgreeWithTheSlowModel) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RandomGuest guest(seed, 1 + static_cast<uint32_t>(seed % 4), 400);
    const TimeSpan window = random_window(random, guest.end_ns);
    const Analysed a(guest.stream.chunks(1 + random() % 200), SpanSet({window}), WakerSide::kAppend, guest.end_ns);
    expect_sums(a, window);
    EXPECT_EQ(a.odd(Oddity::kWakeBeforeSwitchOut) + a.odd(Oddity::kWakeOfCurrentTask), a.odd_total());

    std::map<std::pair<uint64_t, TaskState>, uint64_t> expected;
    std::map<std::pair<uint64_t, uint64_t>, uint64_t> expected_reasons;
    std::map<uint32_t, uint64_t> expected_busy;
    const auto idle = guest.idle_tasks();
    for (const auto& one : guest.truth) {
      const uint64_t ns = overlap(window, one.from_ns, one.to_ns);
      expected[{one.task, one.state}] += ns;
      if (one.state == TaskState::kBlocked) expected_reasons[{one.task, one.reason}] += ns;
      const bool is_idle = std::ranges::find(idle, one.task) != idle.end();
      if (one.state == TaskState::kRunning && !is_idle) expected_busy[one.vcpu] += ns;
    }
    for (const auto& [key, ns] : expected) {
      const auto task = a.replay->tasks().find(TaskId{key.first});
      ASSERT_TRUE(task);
      const TaskStatistics& found = a.replay->statistics().tasks()[task->raw];
      const StateTime& time = key.second == TaskState::kUnknown    ? found.unknown
                              : key.second == TaskState::kRunning  ? found.running
                              : key.second == TaskState::kBlocked  ? found.blocked
                                                                   : found.runnable;
      EXPECT_EQ(time.ns, ns) << "task " << key.first << " state " << static_cast<int>(key.second) << ' ' << a.story(key.first);
      EXPECT_EQ(time.uncertain_ns, 0U);
    }
    for (const auto& [key, ns] : expected_reasons) {
      const auto& reasons = a.replay->statistics().tasks()[a.replay->tasks().find(TaskId{key.first})->raw].by_reason;
      const auto found = std::ranges::find(reasons, key.second, &ReasonTime::reason);
      EXPECT_EQ(found == reasons.end() ? 0 : found->ns, ns);
    }
    for (const auto& [vcpu, ns] : expected_busy) EXPECT_EQ(a.replay->busy_ns(VcpuIndex{vcpu}), ns);
    for (uint32_t i = 0; i < a.replay->tasks().size(); ++i) {
      const uint64_t id = a.replay->tasks()[TaskIndex{i}].id.raw;
      const bool ran = std::ranges::any_of(guest.truth, [&](const auto& one) { return one.task == id && one.state == TaskState::kRunning; });
      EXPECT_EQ(a.replay->is_idle(TaskIndex{i}), ran && std::ranges::find(idle, id) != idle.end()) << "task " << id;
    }
  }
}

TEST(Invariants, ChunksAndTheirSizesChangeNothing) {
  const RandomGuest guest(7, 3, 500);
  const Analysed whole(guest.stream.chunks(), {}, WakerSide::kAppend, guest.end_ns);
  for (const size_t most : {1U, 3U, 64U, 1000U}) {
    const Analysed parts(guest.stream.chunks(most), {}, WakerSide::kAppend, guest.end_ns);
    EXPECT_EQ(whole.folded(), parts.folded());
    EXPECT_EQ(whole.intervals.size(), parts.intervals.size());
  }
}

/// Damages a legal stream: events dropped, repeated, swapped, with other values, at other times.
std::vector<capture::EventChunk> damaged(std::vector<capture::EventChunk> chunks, std::mt19937_64& random) {
  for (capture::EventChunk& chunk : chunks) {
    std::vector<capture::Event> events;
    for (capture::Event event : chunk.events) {
      switch (random() % 12) {
        case 0: continue;
        case 1: events.push_back(event); break;
        case 2: event.args[random() % 5] = random() % 6; break;
        case 3: event.kind = random() % 9; break;
        case 4: event.wall_ns = random() % (event.wall_ns * 2 + 1); break;
        case 5: event.args[random() % 2] = random(); break;
        default: break;
      }
      events.push_back(event);
    }
    for (size_t i = 1; i < events.size(); ++i) {
      if (random() % 20 == 0) std::swap(events[i], events[i - 1]);
    }
    uint64_t sequence = random() % 4;
    chunk.losses.clear();
    for (capture::Event& event : events) {
      if (random() % 40 == 0) {
        capture::EventLoss loss{.first_sequence = sequence, .last_sequence = sequence + 2};
        loss.counts[random() % capture::kEventClassCount] = 3;
        chunk.losses.push_back(loss);
        sequence += 3;
      }
      event.sequence = sequence++;
    }
    chunk.events = std::move(events);
    chunk.stored_before = random() % 8 == 0 ? chunk.stored_before + 1 : chunk.stored_before;
  }
  return chunks;
}

TEST(Invariants, IllegalStreamsKeepTheSums) {
  uint64_t odd = 0;
  for (uint64_t seed = 1; seed <= 150; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    const RandomGuest guest(seed, 1 + static_cast<uint32_t>(seed % 4), 300);
    const auto chunks = damaged(guest.stream.chunks(1 + random() % 300), random);
    const TimeSpan window = random_window(random, guest.end_ns);
    const Analysed a(chunks, SpanSet({window}), WakerSide::kAppend);
    expect_sums(a, window);
    if (HasFatalFailure()) return;
    odd += a.odd_total();
  }
  EXPECT_GT(odd, 1000U);
}

TEST(Invariants, PureNoiseKeepsTheSums) {
  for (uint64_t seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE(seed);
    std::mt19937_64 random(seed);
    StreamBuilder stream;
    WallNs now = 0;
    for (int i = 0; i < 2000; ++i) {
      now += random() % 3;
      const auto vcpu = static_cast<uint32_t>(random() % 3);
      if (random() % 20 == 0) {
        if (random() % 2 == 0) stream.idle({vcpu, now});
        else stream.resume({vcpu, now});
        continue;
      }
      stream.marker({vcpu, now}, random() % 8, {random() % 5, random() % 5, random() % 5, random() % 4, random() % 8});
    }
    const TimeSpan window = random_window(random, now);
    const Analysed a(stream.chunks(50), SpanSet({window}));
    expect_sums(a, window);
    if (HasFatalFailure()) return;
  }
}

}  // namespace
}  // namespace qperf::sched
