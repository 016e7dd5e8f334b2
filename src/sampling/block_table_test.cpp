#include "sampling/block_table.h"

#include <gtest/gtest.h>

#include <set>
#include <thread>
#include <vector>

namespace qperf::sampling {
namespace {

TEST(BlockTable, TheSameBlockIsTheSameSlot) {
  BlockTable table;
  ASSERT_TRUE(table.allocate(1024));
  Block* const first = table.intern(GuestVa{0xffffffff80000000}, 5);
  ASSERT_NE(first, nullptr);
  EXPECT_EQ(first->pc, 0xffffffff80000000U);
  EXPECT_EQ(first->insns, 5U);
  EXPECT_EQ(table.intern(GuestVa{0xffffffff80000000}, 5), first);
  EXPECT_NE(table.intern(GuestVa{0xffffffff80000000}, 6), first);
  EXPECT_EQ(&table.at(table.index_of(*first)), first);
}

TEST(BlockTable, AFullTableRefusesAndCounts) {
  BlockTable table;
  ASSERT_TRUE(table.allocate(64));
  std::set<Block*> slots;
  for (uint64_t pc = 1; pc <= 64; ++pc) slots.insert(table.intern(GuestVa{pc * 16}, 1));
  EXPECT_EQ(slots.size(), 64U);
  EXPECT_FALSE(slots.contains(nullptr));
  EXPECT_EQ(table.intern(GuestVa{0x10000}, 1), nullptr);
  EXPECT_EQ(table.intern(GuestVa{0}, 1), nullptr) << "zero marks a free slot";
  EXPECT_EQ(table.refused(), 2U);
  EXPECT_TRUE(slots.contains(table.intern(GuestVa{16}, 1))) << "what is there is still found";
}

TEST(BlockTable, ThreadsThatMeetAgreeOnTheSlots) {
  BlockTable table;
  ASSERT_TRUE(table.allocate(4096));
  constexpr uint64_t kKeys = 1500;
  std::vector<std::vector<Block*>> found(4);
  std::vector<std::thread> threads;
  for (auto& mine : found)
    threads.emplace_back([&table, &mine] {
      // Three lengths of each block, so that half-claimed slots of one pc are met.
      for (uint64_t key = 0; key < kKeys; ++key)
        mine.push_back(table.intern(GuestVa{0x1000 + key / 3 * 4}, static_cast<uint32_t>(1 + key % 3)));
    });
  for (auto& thread : threads) thread.join();
  for (const auto& mine : found) EXPECT_EQ(mine, found[0]);
  EXPECT_EQ(std::set<Block*>(found[0].begin(), found[0].end()).size(), kKeys);
  for (uint64_t key = 0; key < kKeys; ++key) {
    EXPECT_EQ(found[0][key]->pc, 0x1000 + key / 3 * 4);
    EXPECT_EQ(found[0][key]->insns, 1 + key % 3);
  }
}

}  // namespace
}  // namespace qperf::sampling
