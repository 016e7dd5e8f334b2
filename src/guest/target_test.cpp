#include "guest/target.h"

#include <gtest/gtest.h>

namespace qperf::guest {
namespace {

TEST(Target, EveryRowIsFoundByItsNameAndValue) {
  for (const auto& entry : all_targets()) {
    EXPECT_EQ(target_by_name(entry.name), entry.target);
    EXPECT_EQ(target_by_value(static_cast<uint8_t>(entry.target)), entry.target);
    EXPECT_EQ(info(entry.target).name, entry.name);
  }
  EXPECT_EQ(target_by_name("arm"), std::nullopt);
  EXPECT_EQ(target_by_value(0), std::nullopt);
  EXPECT_EQ(target_by_value(5), std::nullopt);
}

TEST(Target, AuthenticationBitsAreStripped) {
  EXPECT_EQ(strip_authentication(Target::kAarch64, GuestVa{0x1234800008001234 | (uint64_t{1} << 55)}).raw, 0xffff800008001234U);
  EXPECT_EQ(strip_authentication(Target::kAarch64, GuestVa{0x5634000000401000 & ~(uint64_t{1} << 55)}).raw,
            0x0000000000401000U);
  EXPECT_EQ(strip_authentication(Target::kRiscv64, GuestVa{0x9000000000200000}).raw, 0x9000000000200000U);
}

}  // namespace
}  // namespace qperf::guest
