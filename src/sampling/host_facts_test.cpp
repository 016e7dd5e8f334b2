#include <gtest/gtest.h>

#include <fstream>
#include <vector>

#include "sampling/build_id.h"
#include "sampling/chunk_builder.h"
#include "sampling/command_line.h"

namespace qperf::sampling {
namespace {

TEST(CommandLine, SecretsAreRedactedAndNothingElse) {
  const std::vector<std::string> arguments = {"qemu",    "-object", "secret,id=a,data=hun,,ter,format=raw", "--object",
                                              R"({"qom-type":"secret","data":"x"})", "-spice", "password=p,port=1",
                                              "-append", "console=ttyS0 quiet", "-drive", "file=a,data=b"};
  EXPECT_EQ(redacted_command_line(arguments),
            "qemu -object secret,id=a,data=[redacted],format=raw --object [redacted] -spice password=[redacted],port=1 "
            "-append 'console=ttyS0 quiet' -drive file=a,data=b");
}

TEST(CommandLine, OneThreadIsSeen) {
  const auto one = [](std::vector<std::string> arguments) { return asks_for_one_thread(arguments); };
  EXPECT_TRUE(one({"qemu", "-icount", "shift=0"}));
  EXPECT_TRUE(one({"qemu", "--icount", "auto"}));
  EXPECT_TRUE(one({"qemu", "-accel", "tcg,thread=single"}));
  EXPECT_FALSE(one({"qemu", "-accel", "tcg,thread=multi"}));
  EXPECT_FALSE(one({"qemu", "-append", "thread=single"}));
  EXPECT_FALSE(one({}));
}

TEST(CommandLine, OfThisProcessIsRead) { EXPECT_FALSE(read_command_line().empty()); }

TEST(BuildId, OfThisProgramIsReadAndRubbishIsRefused) {
  const auto own = read_build_id("/proc/self/exe");
  ASSERT_TRUE(own) << own.error().message;  // may be empty: not every linker writes one
  EXPECT_LE(own->size(), 64U);
  EXPECT_NE(read_build_id("/nonexistent").error().message.find("elf=/nonexistent"), std::string::npos);
  const std::string path = ::testing::TempDir() + "/qperf_flat_image";
  std::ofstream(path) << "MZ and some more bytes that are no ELF header at all, sixty-four of them or so";
  EXPECT_NE(read_build_id(path).error().message.find("no ELF file"), std::string::npos);
}

TEST(BuildId, DamagedFilesAreSurvived) {
  std::ifstream self("/proc/self/exe", std::ios::binary);
  std::vector<char> bytes(4096);
  self.read(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  const std::string path = ::testing::TempDir() + "/qperf_damaged_elf";
  for (size_t at = 16; at < 512; ++at) {
    auto damaged = bytes;
    damaged[at] = static_cast<char>(0xff);
    std::ofstream(path, std::ios::binary).write(damaged.data(), static_cast<std::streamsize>(at % 2 == 0 ? 4096 : 64 + at));
    const auto result = read_build_id(path);
    if (result) {
      EXPECT_LE(result->size(), 64U);
    }
  }
}

TEST(ChunkBuilder, EqualSitesAreStoredOnce) {
  Block block;
  block.pc = 0x8000;
  block.insns = 4;
  std::vector<std::byte> memory(SampleSlot::size_bytes(4));
  auto& slot = *reinterpret_cast<SampleSlot*>(memory.data());
  slot.block = &block;
  slot.weight = 1;
  slot.frame_count = 2;
  slot.frames()[0] = GuestVa{1};
  slot.frames()[1] = GuestVa{2};
  ChunkBuilder builder(VcpuIndex{3});
  builder.add(slot);
  slot.sequence = 1;
  builder.add(slot);
  slot.has_link = true;
  slot.link = GuestVa{9};
  builder.add(slot);
  slot.frames()[1] = GuestVa{3};
  builder.add(slot);
  const auto& chunk = builder.chunk();
  ASSERT_EQ(chunk.samples.size(), 4U);
  ASSERT_EQ(chunk.sites.size(), 3U);
  EXPECT_EQ(chunk.samples[1].site, 0U);
  EXPECT_EQ(chunk.samples[1].sequence, 1U);
  EXPECT_EQ(chunk.sites[1].link, GuestVa{9});
  EXPECT_EQ(chunk.sites[2].frames[1], GuestVa{3});
  builder.clear();
  EXPECT_TRUE(builder.empty());
}

}  // namespace
}  // namespace qperf::sampling
