#include "sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "sampling/clock.h"
#include "sampling/fake_guest.h"
#include "sampling/ledger.h"

namespace qperf::sampling {
namespace {

constexpr VcpuIndex kFirst{0};
constexpr GuestVa kUserPc{0x10000};

class SamplerTest : public ::testing::Test {
 protected:
  void make(std::vector<std::string_view> arguments, uint32_t vcpus = 1) {
    const auto parsed = parse_options(arguments, guest::Target::kRiscv64);
    ASSERT_TRUE(parsed) << parsed.error().message;
    words.emplace(vcpus);
    sampler.emplace(*parsed, guest::Target::kRiscv64, vcpus, *words, clock_ns());
    ASSERT_TRUE(sampler->allocate());
    for (uint32_t i = 0; i < vcpus; ++i) sampler->vcpu_online(VcpuIndex{i});
    block = sampler->block_translated(GuestVa{0xffffffff80001000}, 10);
    written.resize(vcpus);
  }

  /// What generated code does at a kernel block.
  void run_block(VcpuIndex vcpu = kFirst) {
    Words& mine = words->words(vcpu);
    mine.insns += 10;
    const bool alarm =
        sampler->options().mode == guest::Mode::kIcount ? mine.insns >= sampler->alarm_insns() : mine.due != 0;
    if (alarm) sampler->kernel_alarm(vcpu, block, cpu);
  }

  std::optional<SampleSlot> pop(VcpuIndex vcpu = kFirst) {
    auto& ring = sampler->vcpu(vcpu).samples;
    const std::byte* const memory = ring.front();
    if (memory == nullptr) return std::nullopt;
    const auto& slot = *reinterpret_cast<const SampleSlot*>(memory);
    written[vcpu.raw].weight_stored += slot.weight;
    ++written[vcpu.raw].stored;
    last_frames.assign(slot.frames().begin(), slot.frames().end());
    const SampleSlot copy = slot;
    ring.pop();
    return copy;
  }

  capture::VcpuLedger ledger(Moment moment, VcpuIndex vcpu = kFirst) {
    return make_ledger(*sampler, written, moment, 0, 0).vcpus.at(vcpu.raw);
  }

  static uint64_t sum(const capture::Ticks& ticks) {
    return ticks.kernel + ticks.user + ticks.idle + ticks.other_privileged + ticks.lost + ticks.unknown_idle;
  }

  std::optional<FakeWords> words;
  std::optional<Sampler> sampler;
  FakeCpu cpu;
  Block* block = nullptr;
  std::vector<WrittenCounts> written;
  std::vector<GuestVa> last_frames;
};

TEST_F(SamplerTest, ASampleCarriesEverything) {
  make({});
  run_block();
  EXPECT_FALSE(pop()) << "no tick, no sample";
  sampler->issue_ticks(3);
  run_block();
  run_block();
  const auto slot = pop();
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->sequence, 0U);
  EXPECT_EQ(slot->insns, 10U) << "before the block, not with it";
  EXPECT_EQ(slot->weight, 3U) << "a late sample carries all its ticks";
  EXPECT_EQ(slot->block, block);
  EXPECT_TRUE(slot->has_link);
  EXPECT_EQ(slot->link.raw, FakeCpu::kLink);
  EXPECT_EQ(slot->stop, capture::StopReason::kBottom);
  EXPECT_EQ(last_frames, (std::vector{FakeCpu::kCaller, FakeCpu::kRoot}));
  EXPECT_FALSE(pop()) << "one sample for all its ticks";
  EXPECT_EQ(sampler->kernel_insns(kFirst), 30U);
}

TEST_F(SamplerTest, EveryTickLandsInOneBucket) {
  make({});
  sampler->issue_ticks(1);
  run_block();
  ASSERT_TRUE(pop());
  sampler->issue_ticks(2);
  cpu.privilege_register = 0;
  sampler->outside_alarm(kFirst, kUserPc, cpu);
  sampler->issue_ticks(4);
  cpu.privilege_register = 3;
  sampler->outside_alarm(kFirst, kUserPc, cpu);
  sampler->issue_ticks(8);
  sampler->vcpu_idle(kFirst);
  sampler->issue_ticks(16);
  sampler->vcpu_resume(kFirst);
  sampler->issue_ticks(32);  // nobody takes these
  const auto ticks = ledger(Moment::kEnd).ticks;
  EXPECT_EQ(ticks.issued, 63U);
  EXPECT_EQ(ticks.kernel, 1U);
  EXPECT_EQ(ticks.user, 2U);
  EXPECT_EQ(ticks.other_privileged, 4U);
  EXPECT_EQ(ticks.idle, 24U);
  EXPECT_EQ(ticks.lost, 32U);
  EXPECT_EQ(sum(ticks), ticks.issued);
}

TEST_F(SamplerTest, TicksPendingAtTheEndAreIdleIfTheVcpuIs) {
  make({});
  sampler->vcpu_idle(kFirst);
  sampler->issue_ticks(5);
  const auto ticks = ledger(Moment::kEnd).ticks;
  EXPECT_EQ(ticks.idle, 5U);
  EXPECT_EQ(ticks.lost, 0U);
}

TEST_F(SamplerTest, AFullQueueDropsTheNewestAndItsTicksAreLost) {
  make({"queue=2"});
  for (int i = 0; i < 5; ++i) {
    sampler->issue_ticks(1);
    run_block();
  }
  EXPECT_EQ(pop()->sequence, 0U);
  EXPECT_EQ(pop()->sequence, 1U);
  EXPECT_FALSE(pop());
  sampler->issue_ticks(1);
  run_block();
  EXPECT_EQ(pop()->sequence, 5U) << "the gap in the numbers shows the loss";
  const auto entry = ledger(Moment::kEnd);
  EXPECT_EQ(entry.dropped_queue_full, 3U);
  EXPECT_EQ(entry.samples_taken, 6U);
  EXPECT_EQ(entry.ticks.lost, 3U);
  EXPECT_EQ(sum(entry.ticks), entry.ticks.issued);
}

TEST_F(SamplerTest, ABlockWithoutSlotTakesItsTicksAndLosesThem) {
  make({});
  sampler->issue_ticks(2);
  sampler->kernel_alarm(kFirst, nullptr, cpu);
  EXPECT_FALSE(pop());
  EXPECT_EQ(ledger(Moment::kEnd).ticks.lost, 2U);
}

TEST_F(SamplerTest, IcountCarriesItsRemainder) {
  make({"mode=icount", "period=1001"});
  Insns executed = 0;
  uint64_t samples = 0;
  for (int i = 0; i < 100000; ++i) {
    run_block();
    executed += 10;
    while (const auto slot = pop()) {
      ++samples;
      // Sample k falls into the block in which instruction k x 1001 is executed.
      EXPECT_LT(slot->insns, samples * 1001);
      EXPECT_GE(slot->insns + 10, samples * 1001);
    }
  }
  EXPECT_EQ(samples, executed / 1001);
  EXPECT_EQ(sampler->kernel_insns(kFirst), executed);
}

TEST_F(SamplerTest, JitterKeepsTheMeanAndSpreadsTheGaps) {
  make({"mode=icount", "period=1000", "jitter=50"});
  Insns last = 0;
  Insns shortest = 1 << 20;
  Insns longest = 0;
  uint64_t weight = 0;
  for (int i = 0; i < 1000000; ++i) {
    run_block();
    while (const auto slot = pop()) {
      weight += slot->weight;
      if (last != 0) shortest = std::min(shortest, slot->insns - last);
      if (last != 0) longest = std::max(longest, slot->insns - last);
      last = slot->insns;
    }
  }
  EXPECT_EQ(sampler->kernel_insns(kFirst), 10000000U);
  EXPECT_NEAR(static_cast<double>(weight), 10000, 10000 * 0.02);
  EXPECT_GE(shortest, 490U);
  EXPECT_LT(shortest, 600U);
  EXPECT_LE(longest, 1510U);
  EXPECT_GT(longest, 1400U);
}

TEST_F(SamplerTest, SeveralPeriodsInOneBlockAreOneSampleWithTheirWeight) {
  make({"mode=icount", "period=1000"});
  words->words(kFirst).insns += 3500;
  run_block();
  const auto slot = pop();
  ASSERT_TRUE(slot);
  EXPECT_EQ(slot->weight, 3U);
  EXPECT_EQ(words->words(kFirst).insns, 510U);
}

TEST_F(SamplerTest, WhileSwitchedOffPeriodsPassAndTicksAreNotIssued) {
  make({"mode=icount", "period=1000"});
  sampler->set_enabled(false);
  for (int i = 0; i < 1000; ++i) run_block();
  EXPECT_FALSE(pop());
  sampler->set_enabled(true);
  for (int i = 0; i < 100; ++i) run_block();
  EXPECT_EQ(pop()->weight, 1U);
  EXPECT_EQ(sampler->kernel_insns(kFirst), 11000U);

  make({});
  sampler->set_enabled(false);
  sampler->issue_ticks(7);
  run_block();
  EXPECT_FALSE(pop());
  EXPECT_EQ(ledger(Moment::kEnd).ticks.issued, 0U);
}

TEST_F(SamplerTest, WithOneThreadTicksGoToWhoeverRuns) {
  make({}, 2);
  sampler->set_threading(Threading::kOne);
  sampler->issue_ticks(1);
  run_block(VcpuIndex{1});
  run_block(VcpuIndex{0});
  EXPECT_TRUE(pop(VcpuIndex{1}));
  EXPECT_FALSE(pop(VcpuIndex{0})) << "one tick in all, not one a vCPU";
  sampler->issue_ticks(5);
  run_block(VcpuIndex{0});
  EXPECT_EQ(pop(VcpuIndex{0})->weight, 5U) << "a block that took its time";
}

TEST_F(SamplerTest, WithOneThreadTicksOfItsSleepGoToNoBlockHoweverSoonOneStarts) {
  make({}, 2);
  sampler->set_threading(Threading::kOne);
  sampler->issue_ticks(50, OneThread::kSleeps);
  run_block(VcpuIndex{0});
  EXPECT_FALSE(pop(VcpuIndex{0})) << "the trap's entry, which ends the sleep, has not spent them";
  sampler->issue_ticks(2);
  sampler->issue_ticks(7, OneThread::kSleeps);
  run_block(VcpuIndex{1});
  EXPECT_EQ(pop(VcpuIndex{1})->weight, 2U) << "due before the thread went to sleep";
  sampler->issue_ticks(3);
  const auto first = ledger(Moment::kEnd, VcpuIndex{0}).ticks;
  const auto second = ledger(Moment::kEnd, VcpuIndex{1}).ticks;
  EXPECT_EQ(first.issued + second.issued, 62U);
  EXPECT_EQ(first.unknown_idle, 57U);
  EXPECT_EQ(second.kernel, 2U);
  EXPECT_EQ(first.lost, 3U) << "fell due while it ran, and no block started any more";
  EXPECT_EQ(sum(first), first.issued);
  EXPECT_EQ(sum(second), second.issued);
}

TEST_F(SamplerTest, AfterQuiesceNothingIsTaken) {
  make({});
  sampler->issue_ticks(1);
  sampler->quiesce();
  run_block();
  sampler->outside_alarm(kFirst, kUserPc, cpu);
  EXPECT_FALSE(pop());
  EXPECT_EQ(ledger(Moment::kEnd).ticks.lost, 1U);
}

TEST(Classify, UsesTheTargetsOwnRegister) {
  const auto range = guest::kDefaultKernelRange;
  using guest::PrivilegeSource;
  const auto is_user = [&](PrivilegeSource source, std::optional<uint64_t> value, uint64_t pc = 0x1000) {
    return classify_outside(source, value, GuestVa{pc}, range) == Outside::kUser;
  };
  EXPECT_TRUE(is_user(PrivilegeSource::kRiscvPriv, 0));
  EXPECT_FALSE(is_user(PrivilegeSource::kRiscvPriv, 1));
  EXPECT_FALSE(is_user(PrivilegeSource::kRiscvPriv, 3));
  EXPECT_TRUE(is_user(PrivilegeSource::kAarch64Cpsr, 0x60000000));
  EXPECT_FALSE(is_user(PrivilegeSource::kAarch64Cpsr, 0x3c5));
  EXPECT_FALSE(is_user(PrivilegeSource::kAarch64Cpsr, 0x3cd));
  EXPECT_TRUE(is_user(PrivilegeSource::kX86Cs, 0x33));
  EXPECT_FALSE(is_user(PrivilegeSource::kX86Cs, 0x10));
  EXPECT_TRUE(is_user(PrivilegeSource::kAddressOnly, std::nullopt));
  EXPECT_FALSE(is_user(PrivilegeSource::kRiscvPriv, std::nullopt)) << "unreadable is no evidence of user mode";
  EXPECT_FALSE(classify_outside(PrivilegeSource::kAddressOnly, std::nullopt, GuestVa{0x9000},
                                {GuestVa{0x1000}, GuestVa{0x2000}}) == Outside::kUser);
}

TEST(ReturnAddress, IsReadFromAStackOutsideARangeOfCodeAlone) {
  FakeCpu cpu;
  const auto& x86 = guest::info(guest::Target::kX86_64);
  const GuestRange code{GuestVa{0xffffffff80000000}, GuestVa{0xffffffff800fffff}};
  EXPECT_EQ(return_address(x86, code, FakeCpu::kSp.raw + 0x18, cpu), FakeCpu::kCaller.raw);
  EXPECT_EQ(return_address(x86, code, 0x7fff0000, cpu), FakeCpu::kLink) << "user memory is not read";
}

}  // namespace
}  // namespace qperf::sampling
