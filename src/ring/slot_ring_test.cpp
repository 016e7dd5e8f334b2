#include "ring/slot_ring.h"

#include <gtest/gtest.h>

#include <cstring>

namespace qperf::ring {
namespace {

bool push(SlotRing& ring, uint64_t number) {
  std::byte* const slot = ring.reserve();
  if (slot == nullptr) return false;
  std::memcpy(slot, &number, sizeof number);
  ring.commit();
  return true;
}

uint64_t pop(SlotRing& ring) {
  uint64_t number = 0;
  std::memcpy(&number, ring.front(), sizeof number);
  ring.pop();
  return number;
}

TEST(SlotRing, HoldsExactlyItsCapacityAndKeepsTheOldest) {
  for (const size_t capacity : {1U, 3U, 5U}) {
    SlotRing ring;
    ASSERT_TRUE(ring.allocate(capacity, 13));
    EXPECT_EQ(ring.front(), nullptr);
    for (uint64_t round = 0; round < 20; ++round) {
      for (uint64_t i = 0; i < capacity; ++i) EXPECT_TRUE(push(ring, round * 100 + i));
      EXPECT_FALSE(push(ring, 999));
      for (uint64_t i = 0; i < capacity; ++i) EXPECT_EQ(pop(ring), round * 100 + i);
      EXPECT_EQ(ring.front(), nullptr);
    }
  }
}

TEST(SlotRing, AReservedSlotIsNotSeenBeforeItsCommit) {
  SlotRing ring;
  ASSERT_TRUE(ring.allocate(2, 8));
  ASSERT_NE(ring.reserve(), nullptr);
  EXPECT_EQ(ring.front(), nullptr);
  ring.commit();
  EXPECT_NE(ring.front(), nullptr);
}

TEST(SlotRing, AbsurdSizesAreRefusedWithAMessage) {
  SlotRing ring;
  const auto result = ring.allocate(size_t{1} << 40, size_t{1} << 22);
  ASSERT_FALSE(result);
  EXPECT_NE(result.error().message.find("queue="), std::string::npos);
}

}  // namespace
}  // namespace qperf::ring
