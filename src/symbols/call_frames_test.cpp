#include <elfutils/version.h>

#include <stdexcept>

#include "symbols/fixture_test.h"

namespace qperf::symbols {
namespace {

/// elfutils learned LoongArch's call frames in 0.189.
constexpr bool knows_frames_of(guest::Target target) {
  return _ELFUTILS_PREREQ(0, 189) || target != guest::Target::kLoongarch64;
}

class CallFramesTest : public FixtureTest {
 protected:
  /// Calls `check` for every symbol PREFIX0, PREFIX1, ... and returns how many there are.
  template <typename Check>
  static int for_each_numbered(const Image& image, const std::string& prefix, Check&& check) {
    int count = 0;
    while (const auto at = image.symbol_address(prefix + std::to_string(count))) {
      SCOPED_TRACE(prefix + std::to_string(count));
      check(*at);
      ++count;
    }
    return count;
  }
};

TEST_F(CallFramesTest, OnlyAfterACallCanAReturnAddressStand) {
  for (const auto& info : guest::all_targets()) {
    SCOPED_TRACE(info.name);
    const Image image = open("calls-" + std::string(info.name) + ".elf");
    EXPECT_GE(for_each_numbered(image, "call_", [&](GuestVa at) { EXPECT_TRUE(image.follows_call(at)); }), 2);
    EXPECT_GE(for_each_numbered(image, "other_", [&](GuestVa at) { EXPECT_FALSE(image.follows_call(at)); }), 3);
    EXPECT_FALSE(image.follows_call(image.text_ranges().front().first));
    EXPECT_FALSE(image.follows_call(GuestVa{0}));
    EXPECT_FALSE(image.follows_call(GuestVa{0x1000}));
  }
}

TEST_F(CallFramesTest, ADirectCallTellsWhereItGoes) {
  for (const auto& info : guest::all_targets()) {
    SCOPED_TRACE(info.name);
    const Image image = open("calls-" + std::string(info.name) + ".elf");
    EXPECT_EQ(image.call_target(address(image, "call_0")), address(image, "calls"));
    EXPECT_EQ(image.call_target(address(image, "call_1")), std::nullopt) << "through a register";
    EXPECT_EQ(image.call_target(address(image, "other_0")), std::nullopt) << "a jump";
    // What assembler and linker make of a call forwards, backwards and far away.
    EXPECT_EQ(image.call_target(address(image, "after_forward")), address(image, "bare"));
    EXPECT_EQ(image.call_target(address(image, "after_backward")), address(image, "calls"));
    EXPECT_EQ(image.call_target(address(image, "after_far")), address(image, "direct") + 0x6000000);
  }
}

TEST_F(CallFramesTest, ReturnAddressByDebugFrameAndByEhFrame) {
  for (const auto& info : guest::all_targets()) {
    if (!knows_frames_of(info.target)) continue;
    for (const char* kind : {"calls-", "calls-eh-"}) {
      SCOPED_TRACE(kind + std::string(info.name));
      const Image image = open(kind + std::string(info.name) + ".elf");
      EXPECT_GE(for_each_numbered(image, "link_",
                                  [&](GuestVa at) { EXPECT_EQ(image.return_address_at(at), ReturnAddressAt::kLinkRegister); }),
                2);
      EXPECT_GE(for_each_numbered(image, "saved_",
                                  [&](GuestVa at) { EXPECT_EQ(image.return_address_at(at), ReturnAddressAt::kSaved); }),
                1);
    }
  }
}

TEST_F(CallFramesTest, WithoutCfiOnlyTheFirstInstructionIsSure) {
  for (const auto& info : guest::all_targets()) {
    SCOPED_TRACE(info.name);
    const Image image = open("calls-" + std::string(info.name) + ".elf");
    EXPECT_EQ(image.return_address_at(address(image, "bare")), ReturnAddressAt::kLinkRegister);
    EXPECT_EQ(image.return_address_at(address(image, "inside_bare")), ReturnAddressAt::kUnknown);
    EXPECT_EQ(image.return_address_at(GuestVa{0x1234}), ReturnAddressAt::kUnknown);
  }
}

TEST_F(CallFramesTest, CompiledLeafAndBody) {
  for (const auto& info : guest::all_targets()) {
    if (!knows_frames_of(info.target)) continue;
    SCOPED_TRACE(info.name);
    const Image image = open("inlines-" + std::string(info.name) + ".elf");
    EXPECT_EQ(image.return_address_at(address(image, "leaf")), ReturnAddressAt::kLinkRegister);
    EXPECT_EQ(image.return_address_at(address(image, "spot_leaf")), ReturnAddressAt::kLinkRegister);
    EXPECT_EQ(image.return_address_at(address(image, "with_frame")), ReturnAddressAt::kLinkRegister);
    EXPECT_EQ(image.return_address_at(address(image, "spot_body")), ReturnAddressAt::kSaved);
  }
}

}  // namespace
}  // namespace qperf::symbols
