#include "sched/machine.h"

#include <gtest/gtest.h>

#include "sched/test_support.h"

/// One test per row of the table of odd transitions in docs/off-cpu.md, after the ordinary ones.
namespace qperf::sched {
namespace {

constexpr uint64_t kReady = guest::task_state::kReady;
constexpr uint64_t kBlocked = guest::task_state::kBlocked;
constexpr uint64_t kExited = guest::task_state::kExited;
constexpr uint64_t kSpawn = guest::enqueue_reason::kSpawn;
constexpr uint64_t kWake = guest::enqueue_reason::kWake;
constexpr uint64_t kPreempt = guest::enqueue_reason::kPreempt;
constexpr uint64_t kYield = guest::enqueue_reason::kYield;
constexpr uint64_t kDeferred = guest::enqueue_reason::kDeferredWake;
constexpr uint64_t kSteal = guest::enqueue_reason::kWorkSteal;
constexpr uint64_t kMutex = 5;
constexpr uint64_t kSleep = 4;

/// Task 1 idles on vCPU 0 and task 2 has just been switched in at 100.
StreamBuilder running_task() {
  StreamBuilder stream;
  stream.switch_to({0, 100}, 1, 2, kReady);
  return stream;
}

/// Task 2 blocked on a mutex at 200, switched out at 210.
StreamBuilder blocked_task() {
  StreamBuilder stream = running_task();
  stream.block({0, 200}, 2, 1, kMutex, 0xffff0000, {0x10, 0x20});
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  return stream;
}

TEST(Machine, ABlockAWakeAndARun) {
  StreamBuilder stream = blocked_task();
  stream.wake({0, 300}, 2, 1, 1, 1);
  stream.enqueue({0, 305}, 2, 0, 0, 3, kWake);
  stream.switch_to({0, 320}, 1, 2, kReady);
  stream.exit({0, 400}, 2);
  stream.switch_to({0, 410}, 2, 1, kExited);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300 runnable 300..320 running 320..410");
  EXPECT_EQ(a.odd_total(), 0U);
  const auto intervals = a.of(2);
  EXPECT_EQ(intervals[1].reason, kMutex);
  EXPECT_EQ(intervals[1].resource, 0xffff0000U);
  EXPECT_TRUE(intervals[1].has_waker);
  EXPECT_EQ(intervals[1].stack, intervals[2].stack);
  EXPECT_EQ(intervals[2].enqueue, (Enqueue{0, 0, 3, kWake}));
  EXPECT_TRUE(intervals[2].from_wake);
}

TEST(Machine, BeforeItsFirstSwitchAVcpusTaskIsUnknown) {
  StreamBuilder stream;
  stream.metadata({0, 50}, 1, 0, 0, "main");
  stream.enqueue({0, 90}, 1, 0, 0, 1, kPreempt);
  stream.switch_to({0, 100}, 1, 2, kReady);
  stream.idle({1, 150});
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(1), "unknown 50..100 runnable 100..150");
  ASSERT_EQ(a.unknown.size(), 2U);
  EXPECT_EQ(a.unknown[0].to_ns, 100U);
  EXPECT_EQ(a.unknown[1].vcpu, VcpuIndex{1});
  EXPECT_EQ(a.odd_total(), 0U);
}

TEST(Machine, ATaskThatMovesItselfIsNotPreempted) {
  StreamBuilder stream = running_task();
  stream.enqueue({0, 195}, 2, 0, 1, 1, guest::enqueue_reason::kAffinityMigration);
  stream.switch_to({0, 200}, 2, 3, kReady);
  stream.switch_to({1, 250}, 9, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.of(2)[0].ended_by, EndedBy::kOther);
  EXPECT_EQ(a.of(2)[1].enqueue.reason, guest::enqueue_reason::kAffinityMigration);
  const TaskStatistics& task = a.replay->statistics().tasks()[a.replay->tasks().find(TaskId{2})->raw];
  EXPECT_EQ(task.preemptions, 0U);
  EXPECT_EQ(task.migrations, 1U);
}

TEST(Machine, PreemptionAndYieldAreToldApart) {
  StreamBuilder stream = running_task();
  stream.enqueue({0, 195}, 2, 0, 0, 2, kPreempt);
  stream.switch_to({0, 200}, 2, 3, kReady);
  stream.enqueue({0, 290}, 3, 0, 0, 2, kYield);
  stream.switch_to({0, 300}, 3, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.of(2)[0].ended_by, EndedBy::kPreempted);
  EXPECT_EQ(a.of(3)[0].ended_by, EndedBy::kYielded);
  EXPECT_EQ(a.of(2)[1].enqueue.reason, kPreempt);
  EXPECT_EQ(a.of(2)[1].stack, kNoStack);
}

TEST(Machine, TheSameTaskPickedAgainAfterItsPreemptionGoesOnRunning) {
  StreamBuilder stream = running_task();
  stream.enqueue({0, 150}, 2, 0, 0, 1, kPreempt);
  stream.enqueue({0, 160}, 2, 0, 0, 1, kPreempt);
  stream.block({0, 200}, 2, 1, kSleep, 999);
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  stream.wake({0, 250}, 2, 1);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..250 runnable 250..300");
  EXPECT_FALSE(a.of(2)[2].has_enqueue);
  EXPECT_EQ(a.odd_total(), 0U);
}

TEST(Machine, AStealSplitsTheWaitButNotItsLatency) {
  StreamBuilder stream = blocked_task();
  stream.wake({0, 300}, 2, 1);
  stream.enqueue({0, 301}, 2, 0, 0, 3, kWake);
  stream.enqueue({0, 340}, 2, 0, 1, 1, kSteal);
  stream.switch_to({0, 360}, 1, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300 runnable 300..340 runnable 340..360 running 360..360");
  EXPECT_EQ(a.of(2)[3].enqueue.reason, kSteal);
  EXPECT_EQ(a.replay->statistics().tasks()[a.of(2)[0].task.raw].wake_to_run.max_ns(), 60U);
}

TEST(Machine, WakeBeforeSwitchOut) {
  for (const uint64_t state : {kBlocked, kReady}) {
    StreamBuilder stream = running_task();
    stream.block({0, 200}, 2, 1, kMutex, 0xffff0000, {0x10});
    stream.wake({1, 205}, 2, 1, 9, 1);
    stream.switch_to({0, 210}, 2, 1, state);
    stream.enqueue({1, 220}, 2, 1, 0, 1, kDeferred);
    stream.switch_to({0, 240}, 1, 2, kReady);
    const Analysed a(stream.chunks());
    EXPECT_EQ(a.story(2), "running 100..210 runnable 210..240 running 240..240");
    EXPECT_EQ(a.odd(Oddity::kWakeBeforeSwitchOut), 1U);
    EXPECT_EQ(a.odd_total(), 1U);
    EXPECT_EQ(a.of(2)[1].enqueue.reason, kDeferred);
    EXPECT_NE(a.of(2)[1].stack, kNoStack);
    EXPECT_EQ(a.replay->statistics().tasks()[a.of(2)[0].task.raw].wake_to_run.max_ns(), 30U);
  }
}

TEST(Machine, WakeOfTheCurrentTask) {
  StreamBuilder stream = running_task();
  stream.block({0, 200}, 2, 1, kMutex);
  stream.wake({0, 205}, 2, 1, 0, 7);
  stream.enqueue({0, 290}, 2, 0, 0, 1, kPreempt);
  stream.switch_to({0, 300}, 2, 1, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..300 runnable 300..400");
  EXPECT_EQ(a.odd(Oddity::kWakeOfCurrentTask), 1U);
  EXPECT_EQ(a.of(2)[0].ended_by, EndedBy::kPreempted);
  EXPECT_FALSE(a.of(2)[1].from_wake);
}

TEST(Machine, ReadyAfterABlockAndTheLateWake) {
  StreamBuilder stream = running_task();
  stream.block({0, 200}, 2, 1, kMutex, 0, {0x10});
  stream.switch_to({0, 210}, 2, 1, kReady);
  stream.wake({1, 212}, 2, 1, 9, 1);
  stream.switch_to({0, 240}, 1, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2), "running 100..210 runnable 210..240 running 240..240");
  EXPECT_EQ(a.odd(Oddity::kReadyAfterBlock), 1U);
  EXPECT_EQ(a.odd(Oddity::kLateWake), 1U);
  EXPECT_EQ(a.odd_total(), 2U);
}

TEST(Machine, DuplicateWakesChangeNothing) {
  StreamBuilder stream = blocked_task();
  stream.wake({0, 300}, 2, 1);
  stream.wake({1, 301}, 2, 1);
  stream.switch_to({0, 320}, 1, 2, kReady);
  stream.wake({1, 330}, 2, 1);
  stream.exit({0, 340}, 2);
  stream.switch_to({0, 350}, 2, 1, kExited);
  stream.wake({1, 360}, 2, 1);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300 runnable 300..320 running 320..350");
  EXPECT_EQ(a.odd(Oddity::kWakeOfRunnable), 1U);
  EXPECT_EQ(a.odd(Oddity::kWakeOfRunning), 1U);
  EXPECT_EQ(a.odd(Oddity::kWakeOfExited), 1U);
}

TEST(Machine, WrongSequences) {
  StreamBuilder stream = running_task();
  stream.block({0, 200}, 2, 5, kMutex);
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  stream.wake({0, 220}, 2, 4);
  stream.wake({0, 250}, 2, 7);
  stream.switch_to({0, 260}, 1, 2, kReady);
  stream.block({0, 270}, 2, 9, kMutex);
  stream.switch_to({0, 280}, 2, 1, kBlocked);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..250? runnable 250..260 running 260..280 blocked 280..280");
  EXPECT_EQ(a.odd(Oddity::kStaleWake), 1U);
  EXPECT_EQ(a.odd(Oddity::kWakeOfLaterBlock), 1U);
  EXPECT_EQ(a.odd(Oddity::kBlockSequenceJump), 1U);
}

TEST(Machine, MissingWakes) {
  StreamBuilder stream = blocked_task();
  stream.enqueue({0, 300}, 2, 0, 0, 1, kWake);
  stream.switch_to({0, 320}, 1, 2, kReady);
  stream.block({0, 330}, 2, 2, kMutex);
  stream.switch_to({0, 340}, 2, 1, kBlocked);
  stream.switch_to({0, 400}, 1, 2, kReady);
  const Analysed a(stream.chunks());
  EXPECT_EQ(a.story(2),
            "running 100..210 blocked 210..300? runnable 300..320 running 320..340 blocked 340..400? running 400..400");
  EXPECT_EQ(a.odd(Oddity::kEnqueueWithoutWake), 1U);
  EXPECT_EQ(a.odd(Oddity::kRunWithoutWake), 1U);
}

TEST(Machine, ANeverWokenBlockEndsUnfinished) {
  const Analysed a(blocked_task().chunks(), {}, WakerSide::kLeaveOut, 500);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..500");
  EXPECT_EQ(a.of(2)[1].ended_by, EndedBy::kUnfinished);
}

TEST(Machine, BlockedWithoutBlockEvent) {
  StreamBuilder stream = running_task();
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  stream.wake({0, 300}, 2, 8);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300? runnable 300..400");
  EXPECT_EQ(a.odd(Oddity::kBlockedWithoutBlock), 1U);
}

TEST(Machine, TwoBlocksAndABlockWhileOffTheCpu) {
  StreamBuilder stream = running_task();
  stream.block({0, 200}, 2, 1, kMutex);
  stream.block({0, 205}, 2, 2, kSleep);
  stream.switch_to({0, 210}, 2, 1, kBlocked);
  stream.block({1, 250}, 2, 3, kMutex);
  stream.switch_to({1, 260}, 2, 3, kBlocked);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..250? unknown 250..260 blocked 260..300");
  EXPECT_EQ(a.odd(Oddity::kBlockTwice), 1U);
  EXPECT_EQ(a.odd(Oddity::kBlockWhileOffCpu), 1U);
  EXPECT_EQ(a.of(2)[1].reason, kSleep);
}

TEST(Machine, SwitchFromAnotherTask) {
  StreamBuilder stream = running_task();
  stream.switch_to({0, 200}, 3, 4, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..200? unknown 200..300");
  EXPECT_EQ(a.story(3), "runnable 200..300");
  EXPECT_EQ(a.story(4), "running 200..300");
  EXPECT_EQ(a.odd(Oddity::kSwitchFromOther), 1U);
}

TEST(Machine, SwitchFromATaskThatWasNotRunning) {
  StreamBuilder stream = blocked_task();
  stream.switch_to({1, 300}, 2, 5, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300? runnable 300..400");
  EXPECT_EQ(a.odd(Oddity::kSwitchFromNotRunning), 1U);
}

TEST(Machine, RunningOnTwoVcpus) {
  StreamBuilder stream = running_task();
  stream.switch_to({1, 200}, 5, 2, kReady);
  stream.switch_to({2, 300}, 2, 6, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..200? running 200..300? runnable 300..400");
  EXPECT_EQ(a.odd(Oddity::kRunningTwice), 2U);
  // vCPU 0 from 200 and vCPU 1 from 300 on: not known who runs there; and all before the first switches.
  uint64_t unknown = 0;
  for (const auto& span : a.unknown) unknown += span.to_ns - span.from_ns;
  EXPECT_EQ(unknown, (100 + 200) + (200 + 100) + 300U);
}

TEST(Machine, SwitchToItself) {
  StreamBuilder stream = running_task();
  stream.switch_to({0, 200}, 2, 2, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..300");
  EXPECT_EQ(a.odd(Oddity::kSwitchToItself), 1U);
}

TEST(Machine, OddStatesAtASwitchOut) {
  StreamBuilder stream = running_task();
  stream.switch_to({0, 200}, 2, 3, guest::task_state::kRunning);
  stream.switch_to({0, 300}, 3, 1, 77);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..200 runnable 200..400");
  EXPECT_EQ(a.story(3), "running 200..300 unknown 300..400");
  EXPECT_EQ(a.odd(Oddity::kLeftRunning), 1U);
  EXPECT_EQ(a.odd(Oddity::kUnknownState), 1U);
}

TEST(Machine, ExitsThatAreNotWhole) {
  StreamBuilder stream = running_task();
  stream.switch_to({0, 200}, 2, 3, kExited);  // no exit event
  stream.exit({0, 210}, 3);
  stream.exit({0, 215}, 3);
  stream.switch_to({0, 220}, 3, 4, kReady);  // another state
  stream.exit({0, 230}, 4);
  stream.switch_to({0, 240}, 5, 6, kReady);  // no switch of it
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..200");
  EXPECT_EQ(a.story(3), "running 200..220");
  EXPECT_EQ(a.story(4), "running 220..240");
  EXPECT_EQ(a.odd(Oddity::kExitedWithoutExit), 1U);
  EXPECT_EQ(a.odd(Oddity::kExitTwice), 1U);
  EXPECT_EQ(a.odd(Oddity::kExitStateMismatch), 1U);
  EXPECT_EQ(a.odd(Oddity::kExitWithoutSwitch), 1U);
}

TEST(Machine, ExitWhileOffTheCpuAndLivesAfterwards) {
  StreamBuilder stream = blocked_task();
  stream.exit({0, 300}, 2);
  stream.metadata({0, 310}, 2, 7, 7, "again");  // the id is used again
  stream.enqueue({0, 320}, 2, 0, 0, 1, kSpawn);
  stream.switch_to({0, 330}, 1, 2, kReady);
  stream.exit({0, 340}, 2);
  stream.switch_to({0, 350}, 2, 1, kExited);
  stream.enqueue({0, 360}, 2, 0, 0, 1, kPreempt);  // no sign of a new life
  stream.switch_to({0, 370}, 1, 2, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2),
            "running 100..210 blocked 210..300 unknown 310..320 runnable 320..330 running 330..350 running 370..400");
  EXPECT_EQ(a.odd(Oddity::kExitWhileOffCpu), 1U);
  EXPECT_EQ(a.odd(Oddity::kEventAfterExit), 1U);
  EXPECT_EQ(a.odd(Oddity::kRunAfterExit), 1U);
}

TEST(Machine, EnqueueWhileRunning) {
  StreamBuilder stream = running_task();
  stream.enqueue({1, 150}, 2, 1, 1, 1, kWake);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  EXPECT_EQ(a.story(2), "running 100..300");
  EXPECT_EQ(a.odd(Oddity::kEnqueueWhileRunning), 1U);
}

TEST(Machine, HaltsAreReportedApart) {
  StreamBuilder stream = running_task();
  stream.idle({0, 200});
  stream.idle({0, 210});
  stream.resume({0, 250});
  stream.resume({0, 260});
  stream.idle({0, 270});
  stream.exit({0, 280}, 2);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 300);
  ASSERT_EQ(a.halts.size(), 2U);
  EXPECT_EQ(a.halts[0].from_ns, 200U);
  EXPECT_EQ(a.halts[0].to_ns, 250U);
  EXPECT_EQ(a.halts[1].to_ns, 280U);
  EXPECT_EQ(a.odd(Oddity::kIdleTwice), 1U);
  EXPECT_EQ(a.odd(Oddity::kResumeWithoutIdle), 1U);
  EXPECT_EQ(a.odd(Oddity::kEventWhileHalted), 1U);
}

TEST(Machine, ALossSpoilsWhatItCouldHaveCut) {
  StreamBuilder stream = blocked_task();  // blocked 210..
  stream.lose(0, capture::EventClass::kSwitch);
  stream.wake({0, 300}, 2, 1);
  stream.switch_to({0, 320}, 1, 2, kReady);
  stream.enqueue({0, 350}, 2, 0, 0, 1, kPreempt);
  stream.switch_to({0, 360}, 2, 1, kReady);
  stream.lose(1, capture::EventClass::kWake);  // on another vCPU, which has no event: from its start to the end
  const Analysed alone(blocked_task().chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(alone.story(2), "running 100..210 blocked 210..400");
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  // The wake is that of the block, so the block is certain whatever was lost meanwhile. Runs on vCPU 0 outside its own loss
  // are certain too; waits for a CPU may hide a run on vCPU 1.
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..300 runnable 300..320? running 320..360 runnable 360..400?");
}

TEST(Machine, ALossOfMetadataSpoilsNoState) {
  StreamBuilder stream = blocked_task();
  stream.lose(0, capture::EventClass::kMetadata);
  stream.switch_to({0, 320}, 1, 3, kReady);
  const Analysed a(stream.chunks(), {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..400");
  EXPECT_EQ(a.survey.drops()[static_cast<size_t>(capture::EventClass::kMetadata)], 1U);
}

TEST(Machine, AMissingChunkIsALoss) {
  auto chunks = blocked_task().chunks();
  chunks.front().stored_before = 5;
  StreamBuilder rest;
  const Analysed a(chunks, {}, WakerSide::kLeaveOut, 400);
  EXPECT_EQ(a.survey.missing_events(), 5U);
  EXPECT_EQ(a.story(2), "running 100..210 blocked 210..400");
  EXPECT_TRUE(a.survey.losses().touches(0, 50));
}

}  // namespace
}  // namespace qperf::sched
