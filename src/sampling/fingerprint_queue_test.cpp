#include "sampling/fingerprint_queue.h"

#include <gtest/gtest.h>

#include <vector>

#include "sampling/clock.h"

namespace qperf::sampling {
namespace {

uint64_t take_all(FingerprintQueue& queue, WallNs now) {
  uint64_t taken = 0;
  while (queue.take_budget(now)) ++taken;
  return taken;
}

TEST(FingerprintQueue, BudgetIsABurstThenARateAndSavesUp) {
  FingerprintQueue queue;
  EXPECT_EQ(take_all(queue, 1), FingerprintQueue::kBurst);
  EXPECT_FALSE(queue.has_budget(1));
  EXPECT_EQ(take_all(queue, 1 + kNsPerSecond), FingerprintQueue::kPerSecond);
  EXPECT_EQ(take_all(queue, 1 + 1000 * kNsPerSecond), FingerprintQueue::kBurst) << "never more than a burst at once";
}

TEST(FingerprintQueue, LaterTheRateIsLower) {
  FingerprintQueue queue;
  uint64_t taken = 0;
  WallNs now = 1;
  while (taken < FingerprintQueue::kEager) taken += take_all(queue, now += kNsPerSecond);
  now += 1000 * kNsPerSecond;
  take_all(queue, now);
  EXPECT_EQ(take_all(queue, now + 10 * kNsPerSecond), 10 * FingerprintQueue::kPerSecondLater);
}

TEST(FingerprintQueue, KeepsOrderAndCountsWhatDoesNotFit) {
  FingerprintQueue queue;
  const std::vector<std::byte> bytes(FingerprintQueue::kMaxBytes, std::byte{7});
  FingerprintQueue::Item item;
  for (int round = 0; round < 3; ++round) {
    for (uint64_t i = 0; i < FingerprintQueue::kCapacity; ++i)
      EXPECT_TRUE(queue.push(i, GuestVa{i}, std::span(bytes).first(1 + i % bytes.size())));
    EXPECT_FALSE(queue.push(0, GuestVa{0}, bytes));
    for (uint64_t i = 0; i < FingerprintQueue::kCapacity; ++i) {
      ASSERT_TRUE(queue.pop(item));
      EXPECT_EQ(item.address.raw, i);
      EXPECT_EQ(item.size_bytes, 1 + i % bytes.size());
    }
    EXPECT_FALSE(queue.pop(item));
  }
  EXPECT_EQ(queue.dropped(), 3U);
}

}  // namespace
}  // namespace qperf::sampling
