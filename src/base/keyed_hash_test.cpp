#include "base/keyed_hash.h"

#include <gtest/gtest.h>
#include <tsl/robin_map.h>

#include <functional>
#include <set>
#include <string>

namespace qperf {
namespace {

constexpr uint64_t kGolden = 0x9e3779b97f4a7c15;

/// What undoes a multiplication by the odd `factor`: Newton's iteration doubles the right bits.
constexpr uint64_t inverse(uint64_t factor) {
  uint64_t result = factor;
  for (int i = 0; i < 6; ++i) result *= 2 - factor * result;
  return result;
}
static_assert(inverse(kGolden) * kGolden == 1);

size_t buckets(const std::function<uint64_t(uint64_t)>& key) {
  tsl::robin_map<uint64_t, uint32_t, KeyedHash> map;
  for (uint64_t k = 0; k < 20'000; ++k) map.try_emplace(key(k), 0);
  EXPECT_EQ(map.size(), 20'000);
  return map.bucket_count();
}

TEST(KeyedHash, KeysMadeToMeetAreSpread) {
  constexpr size_t kNoMoreThanOthers = 1 << 16;
  EXPECT_LE(buckets([](uint64_t k) { return k; }), kNoMoreThanOthers);
  EXPECT_LE(buckets([](uint64_t k) { return k << 40; }), kNoMoreThanOthers);
  EXPECT_LE(buckets([](uint64_t k) { return k << 49; }), kNoMoreThanOthers);
  // Whose products with a factor that is known have equal low bits, also after their halves were folded.
  EXPECT_LE(buckets([](uint64_t k) { return (k << 49) * inverse(kGolden); }), kNoMoreThanOthers);
  EXPECT_LE(buckets([](uint64_t k) { return (k << 32 | k) * inverse(kGolden); }), kNoMoreThanOthers);
}

TEST(KeyedHash, LowBitsOfPairsDependOnBothWords) {
  std::set<uint64_t> of_first;
  std::set<uint64_t> of_second;
  for (uint64_t k = 0; k < 1000; ++k) {
    of_first.insert(keyed_hash(k << 40, 7) & 0xffff);
    of_second.insert(keyed_hash(7, k << 40) & 0xffff);
  }
  // Of 1,000 draws out of 65,536 some 992 differ.
  EXPECT_GT(of_first.size(), 900);
  EXPECT_GT(of_second.size(), 900);
}

TEST(KeyedHash, TextsOfAnyLength) {
  std::set<size_t> seen;
  for (size_t length = 0; length < 2000; ++length) {
    const std::string text(length, 'x');
    EXPECT_EQ(KeyedHash{}(text), KeyedHash{}(std::string_view(text)));
    seen.insert(KeyedHash{}(text));
  }
  EXPECT_EQ(seen.size(), 2000);
}

}  // namespace
}  // namespace qperf
