#include "sampling/tracer.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "sampling/clock.h"
#include "sampling/elf_symbol.h"
#include "sampling/event_chunk_builder.h"
#include "sampling/fake_guest.h"
#include "sampling/sampler.h"

namespace qperf::sampling {
namespace {

constexpr VcpuIndex kFirst{0};
constexpr GuestVa kMarker{0xffffffff80002000};

class TracerTest : public ::testing::Test {
 protected:
  void make(std::vector<std::string_view> arguments) {
    arguments.insert(arguments.begin(), "trace=0xffffffff80002000");
    const auto parsed = parse_options(arguments, guest::Target::kRiscv64);
    ASSERT_TRUE(parsed) << parsed.error().message;
    sampler.emplace(*parsed, guest::Target::kRiscv64, 1, words, clock_ns());
    ASSERT_TRUE(sampler->allocate());
    sampler->vcpu_online(kFirst);
    block = sampler->block_translated(kMarker, 4);
  }
  void emit(std::array<uint64_t, 6> values) {
    words.words(kFirst).insns += 4;
    cpu.arguments = values;
    sampler->trace_marker(kFirst, block, cpu);
  }
  capture::EventChunk drain() {
    EventChunkBuilder builder(kFirst);
    auto& queue = sampler->tracer().queue(kFirst);
    while (const EventSlot* slot = queue.front()) {
      builder.add(*slot);
      queue.pop();
    }
    builder.add_trailing(queue.trailing_loss());
    return builder.chunk();
  }

  FakeWords words{1};
  std::optional<Sampler> sampler;
  FakeCpu cpu;
  Block* block = nullptr;
};

TEST_F(TracerTest, AnEventCarriesEverythingAndABlockItsStack) {
  make({});
  emit({3, 7, 1, 5, 0xffff, 9});
  emit({4, 7, 1, 2, 1, 0});
  const auto chunk = drain();
  ASSERT_EQ(chunk.events.size(), 2U);
  EXPECT_EQ(chunk.events[0].kind, 3U);
  EXPECT_EQ(chunk.events[0].args, (std::array<uint64_t, 5>{7, 1, 5, 0xffff, 9}));
  EXPECT_EQ(chunk.events[0].insns, 0U) << "before the block";
  EXPECT_EQ(chunk.events[1].insns, 4U);
  EXPECT_EQ(chunk.events[1].sequence, 1U);
  ASSERT_EQ(chunk.stacks.size(), 1U);
  EXPECT_EQ(chunk.stacks[0], (std::vector<GuestVa>{GuestVa{FakeCpu::kLink}, FakeCpu::kCaller, FakeCpu::kRoot}));
  EXPECT_EQ(chunk.events[1].stack, capture::kNoEventStack);
}

TEST_F(TracerTest, StacksAsAskedFor) {
  make({"trace_stacks=all"});
  for (uint64_t kind = 1; kind <= 8; ++kind) emit({kind, 1, 2, 3, 4, 5});
  std::vector<bool> with_stack;
  for (const auto& event : drain().events) with_stack.push_back(event.stack != capture::kNoEventStack);
  EXPECT_EQ(with_stack, (std::vector<bool>{false, true, true, true, false, true, false, false}));
  make({"trace_stacks=none"});
  emit({3, 1, 2, 3, 4, 5});
  EXPECT_TRUE(drain().stacks.empty());
}

TEST_F(TracerTest, AFullQueueLosesTheTailAndKeepsItsPlace) {
  make({"event_queue=2"});
  emit({2, 1, 2, 2, 0, 0});
  emit({2, 2, 3, 2, 0, 0});
  emit({4, 1, 1, 0, 0, 0});
  emit({99, 0, 0, 0, 0, 0});
  sampler->tracer().queue(kFirst).pop();
  emit({2, 3, 4, 2, 0, 0});
  emit({2, 4, 5, 2, 0, 0});
  const auto chunk = drain();
  ASSERT_EQ(chunk.events.size(), 2U);
  EXPECT_EQ(chunk.events[0].sequence, 1U);
  EXPECT_EQ(chunk.events[1].sequence, 4U);
  ASSERT_EQ(chunk.losses.size(), 2U);
  EXPECT_EQ(chunk.losses[0].first_sequence, 2U);
  EXPECT_EQ(chunk.losses[0].last_sequence, 3U);
  EXPECT_EQ(chunk.losses[0].counts, (capture::EventCounts{1, 0, 0, 0, 1}));
  EXPECT_EQ(chunk.losses[1].first_sequence, 5U);
  EXPECT_EQ(chunk.losses[1].counts, (capture::EventCounts{0, 0, 1}));
  EXPECT_TRUE(capture::check_events(chunk).ok());
}

TEST_F(TracerTest, SamplesNameTheTaskInForceEvenWhileEventsAreDropped) {
  make({"event_queue=1"});
  emit({1, 1, 0, 0, 0, 0});
  emit({2, 7, 8, 2, 0, 0});  // dropped
  sampler->issue_ticks(1);
  sampler->kernel_alarm(kFirst, block, cpu);
  const std::byte* const memory = sampler->vcpu(kFirst).samples.front();
  ASSERT_NE(memory, nullptr);
  EXPECT_EQ(reinterpret_cast<const SampleSlot*>(memory)->task, TaskId{8});
  EXPECT_EQ(reinterpret_cast<const SampleSlot*>(memory)->sequence, 2U) << "shared with events";
}

TEST_F(TracerTest, HaltsAreEvents) {
  make({});
  sampler->vcpu_idle(kFirst);
  sampler->vcpu_resume(kFirst);
  const auto chunk = drain();
  ASSERT_EQ(chunk.events.size(), 2U);
  EXPECT_EQ(chunk.events[0].type, capture::EventType::kVcpuIdle);
  EXPECT_EQ(chunk.events[1].type, capture::EventType::kVcpuResume);
}

TEST(TraceOptions, SayWhatIsWrong) {
  const auto message = [](std::vector<std::string_view> arguments) {
    const auto parsed = parse_options(arguments, guest::Target::kAarch64);
    return parsed ? std::string() : parsed.error().message;
  };
  EXPECT_NE(message({"trace=0x1000"}).find("outside kernel="), std::string::npos);
  EXPECT_NE(message({"trace=0xffffffff80000002"}).find("a multiple of 4"), std::string::npos);
  EXPECT_NE(message({"trace=auto"}).find("give elf=PATH"), std::string::npos);
  EXPECT_NE(message({"trace_stacks=some"}).find("block, all or none"), std::string::npos);
  EXPECT_NE(message({"trace=auto", "elf=/does/not/exist"}).find("cannot be opened"), std::string::npos);
}

/// An ELF with one symbol table; the marker's name is the tail of a longer one.
std::string small_elf(std::string_view name, uint64_t value) {
  std::string strings = std::string(1, '\0') + "prefix_" + std::string(name) + '\0';
  const auto word = [](uint64_t number, size_t bytes) {
    std::string text;
    for (size_t i = 0; i < bytes; ++i) text += static_cast<char>(i < sizeof(number) ? number >> (8 * i) : 0);
    return text;
  };
  const auto section = [&](uint64_t type, uint64_t offset, uint64_t size, uint64_t link) {
    return word(0, 4) + word(type, 4) + word(0, 16) + word(offset, 8) + word(size, 8) + word(link, 4) + word(0, 4) + word(0, 16);
  };
  const std::string symbols = std::string(24, '\0') + word(8, 4) + "\x12" + '\0' + word(1, 2) + word(value, 8) + word(0, 8);
  const uint64_t strings_at = 64;
  const uint64_t symbols_at = strings_at + strings.size();
  const uint64_t sections_at = symbols_at + symbols.size();
  std::string file = std::string("\x7f" "ELF\2\1\1") + std::string(9, '\0') + word(2, 2) + word(243, 2) + word(1, 4) + word(0, 16) +
                     word(sections_at, 8) + word(0, 4) + word(64, 2) + word(0, 4) + word(64, 2) + word(3, 2) + word(0, 2);
  file.resize(64);
  return file + strings + symbols + section(0, 0, 0, 0) + section(2, symbols_at, symbols.size(), 2) +
         section(3, strings_at, strings.size(), 0);
}

TEST(ElfSymbol, IsFoundByItsExactNameAndDamageIsHarmless) {
  const std::string path = ::testing::TempDir() + "/qperf_elf_symbol";
  const std::string elf = small_elf(guest::kTraceMarkerSymbol, kMarker.raw);
  const auto write = [&](std::string_view bytes) { std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size())); };
  write(elf);
  const auto found = find_elf_symbol(path, guest::kTraceMarkerSymbol);
  ASSERT_TRUE(found) << found.error().message;
  EXPECT_EQ(*found, kMarker);
  EXPECT_EQ(*find_elf_symbol(path, "__pulse_qperf_trace_v2"), std::nullopt);
  EXPECT_EQ(*find_elf_symbol(path, "pulse_qperf_trace_v"), std::nullopt);
  for (size_t length = 0; length < elf.size(); length += 3) {
    write(std::string_view(elf).substr(0, length));
    const auto cut = find_elf_symbol(path, guest::kTraceMarkerSymbol);
    if (cut) {
      EXPECT_EQ(*cut, std::nullopt);
    }
  }
  for (size_t at = 16; at < elf.size(); ++at) {
    std::string damaged = elf;
    damaged[at] = '\xff';
    write(damaged);
    (void)find_elf_symbol(path, guest::kTraceMarkerSymbol).ok();
  }
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace qperf::sampling
