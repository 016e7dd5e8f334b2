#include <gtest/gtest.h>

#include "qemutrace/layers.h"
#include "qemutrace/leaks.h"
#include "qemutrace/locks.h"
#include "qemutrace/requests.h"
#include "qemutrace/trace_script.h"

// Traces that no QEMU writes. Most of these take minutes and more where one event costs as much as all the events before it.
namespace qperf::qemutrace {
namespace {

using testing::Script;
constexpr uint64_t kMany = 200'000;

struct Followed {
  uint64_t requests = 0;
  uint64_t doubtful = 0;
  RequestTracker tracker{[this](const Request& request) {
    ++requests;
    doubtful += request.loss_in_span ? 1 : 0;
  }};
};

TEST(HostileTraces, ALossDoesNotLookAtEveryOpenRequest) {
  Script script;
  for (uint64_t element = 1; element <= kMany; ++element) script.event("virtqueue_pop", {element % 1000, element, 1, 1});
  for (uint64_t i = 0; i < kMany; ++i) script.loss(1);
  for (uint64_t element = 1; element <= 10; ++element) script.event("virtqueue_fill", {element % 1000, element, 1, 0});
  Followed followed;
  script.run_over(followed.tracker);
  EXPECT_EQ(followed.requests, 10U);
  EXPECT_EQ(followed.doubtful, 10U);
  EXPECT_EQ(followed.tracker.unfinished(), kMany - 10);
}

TEST(HostileTraces, ALossDoesNotLookAtEveryQueue) {
  Script script;
  for (uint64_t queue = 1; queue <= RequestTracker::kMaxQueues; ++queue) script.event("virtio_queue_notify", {0xd, 0, queue});
  script.event("virtqueue_pop", {1, 1, 1, 1}).event("virtqueue_fill", {1, 1, 1, 0});
  for (uint64_t i = 0; i < kMany; ++i) script.loss(1);
  Followed followed;
  script.run_over(followed.tracker);
  EXPECT_EQ(followed.requests, 1U);
  EXPECT_EQ(followed.doubtful, 1U);
}

TEST(HostileTraces, ABlockEventDoesNotLookAtEveryWaitingRequest) {
  Script script;
  for (uint64_t r = 1; r <= RequestTracker::kMaxWaiting; ++r)
    script.event("virtqueue_pop", {0xa, r, 1, 1}).event("virtio_blk_handle_write", {0xd, r, r * 8, 8});
  for (uint64_t i = 0; i < kMany; ++i) script.event("blk_co_pwritev", {0xb, 0, 1ULL << 40, 512, 0});
  script.event("blk_co_pwritev", {0xb, 0, 8 * 512, 4096, 0}).event("virtqueue_fill", {0xa, 1, 1, 0});
  std::vector<Request> requests;
  RequestTracker tracker([&](const Request& r) { requests.push_back(r); });
  script.run_over(tracker);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_TRUE(requests[0].at(Stage::kBlock));
  EXPECT_EQ(tracker.left_out(), 0U);
}

TEST(HostileTraces, ASubmissionDoesNotLookAtEveryBlockRequest) {
  Script script;
  for (uint64_t r = 1; r <= RequestTracker::kMaxWaiting; ++r) {
    script.event("virtqueue_pop", {0xa, r, 1, 1}).event("virtio_blk_handle_write", {0xd, r, r * 8, 8});
    script.event("blk_co_pwritev", {0xb, 0, r * 8 * 512, 4096, 0});
  }
  for (uint64_t i = 0; i < kMany; ++i) script.event("luring_co_submit", {0, 0, i, 0, 1, 512, 0});
  script.event("luring_co_submit", {0, 0, 7, 0, 8 * 512, 4096, 0}).event("luring_process_completion", {0, 7, 0});
  script.event("virtqueue_fill", {0xa, 1, 1, 0});
  std::vector<Request> requests;
  RequestTracker tracker([&](const Request& r) { requests.push_back(r); });
  script.run_over(tracker);
  ASSERT_EQ(requests.size(), 1U);
  EXPECT_TRUE(requests[0].at(Stage::kSubmit) && requests[0].at(Stage::kHostDone));
}

TEST(HostileTraces, WhatIsNotFollowedIsCounted) {
  constexpr uint64_t kBeyond = 100;
  Script script;
  for (uint64_t element = 1; element <= RequestTracker::kMaxOpen + kBeyond; ++element)
    script.event("virtqueue_pop", {0xa, element, 1, 1});
  Followed followed;
  script.run_over(followed.tracker);
  EXPECT_EQ(followed.tracker.left_out(), kBeyond);
  EXPECT_EQ(followed.tracker.unfinished(), RequestTracker::kMaxOpen + kBeyond);
  LeakFinder leaks(1000);
  script.run_over(leaks);
  EXPECT_EQ(leaks.pops_left_out(), kBeyond);
  EXPECT_EQ(leaks.leaks().size(), LeakFinder::kMaxLeaks);
  EXPECT_EQ(leaks.leaks_left_out(), LeakFinder::kMaxOpen - LeakFinder::kMaxLeaks);
}

TEST(HostileTraces, RequestsOfMoreQueuesThanAreFollowedStillCount) {
  Script script;
  for (uint64_t queue = 1; queue <= RequestTracker::kMaxQueues + 1; ++queue) script.event("virtio_queue_notify", {0xd, 0, queue});
  const uint64_t last = RequestTracker::kMaxQueues + 1;
  script.event("virtqueue_pop", {last, 1, 1, 1}).event("virtqueue_fill", {last, 1, 1, 0});
  Followed followed;
  script.run_over(followed.tracker);
  EXPECT_EQ(followed.requests, 1U);
  EXPECT_EQ(followed.tracker.left_out(), 3U);
}

TEST(HostileTraces, ALossDoesNotLookAtEveryMutex) {
  Script script;
  for (uint64_t mutex = 1; mutex <= kMany; ++mutex) script.mutex("qemu_mutex_locked", mutex, "a.c", 1);
  script.mutex("qemu_mutex_lock", 1, "b.c", 2);
  for (uint64_t i = 0; i < kMany; ++i) script.loss(1);
  script.mutex("qemu_mutex_unlock", 1, "a.c", 1).mutex("qemu_mutex_locked", 1, "b.c", 2);
  LockProfile profile;
  script.run_over(profile);
  EXPECT_EQ(profile.unlocks_without_lock(), 1U);  // what was held before the loss is forgotten
  EXPECT_EQ(profile.unfinished(), kMany + 2);
  for (const LockProfile::Site* site : profile.sites()) {
    EXPECT_EQ(site->wait_ns.count(), 0U);
    EXPECT_EQ(site->hold_ns.count(), 0U);
  }
}

TEST(HostileTraces, MutexesAndPlacesBeyondTheirBoundsAreCounted) {
  Script script;
  for (uint64_t line = 0; line < LockProfile::kMaxSites + 7; ++line) script.mutex("qemu_mutex_locked", 1, "a.c", line);
  for (uint64_t mutex = 1; mutex <= LockProfile::kMaxMutexes + 5; ++mutex) script.mutex("qemu_mutex_unlock", mutex, "a.c", 1);
  LockProfile profile;
  script.run_over(profile);
  EXPECT_EQ(profile.sites().size(), LockProfile::kMaxSites);
  EXPECT_EQ(profile.left_out(), 12U);
}

TEST(HostileTraces, WaitsBeyondTheirBoundMakeRoomAfterALoss) {
  Script script;
  for (uint64_t i = 0; i < LockProfile::kMaxWaits + 3; ++i) script.mutex("qemu_mutex_lock", i % 1000, "a.c", 1);
  script.loss(1).mutex("qemu_mutex_lock", 5000, "a.c", 1).mutex("qemu_mutex_locked", 5000, "a.c", 1);
  LockProfile profile;
  script.run_over(profile);
  EXPECT_EQ(profile.left_out(), 3U);
  ASSERT_EQ(profile.sites().size(), 1U);
  EXPECT_EQ(profile.sites()[0]->wait_ns.count(), 1U);
}

TEST(HostileTraces, PiecesOfARequestAreLookedForWithinABound) {
  Layer upper{.name = "upper", .requests = {}};
  Layer lower{.name = "lower", .requests = {}};
  for (uint64_t i = 0; i < 5000; ++i)
    upper.requests.push_back({.time_ns = i, .is_write = true, .sector = 0, .sectors = 1'000'000});
  for (uint64_t i = 0; i < 100'000; ++i) lower.requests.push_back({.time_ns = i, .is_write = true, .sector = i, .sectors = 1});
  EXPECT_EQ(match_layers(upper, lower, LayerClocks::kOne, 0).missing, 5000U);
  Layer one{.name = "upper", .requests = {{.time_ns = 0, .is_write = true, .sector = 0, .sectors = 8}}};
  Layer nothing{.name = "lower", .requests = {{.time_ns = 0, .is_write = true, .sector = 0, .sectors = 0}}};
  EXPECT_EQ(match_layers(one, nothing, LayerClocks::kOne, 0).missing, 1U);
}

}  // namespace
}  // namespace qperf::qemutrace
