#include <gtest/gtest.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <fstream>

#include "capture/header_keys.h"
#include "capture/reader.h"
#include "foreign/capture_import.h"
#include "foreign/folded_text.h"
#include "foreign/line_reader.h"
#include "foreign/older_capture.h"
#include "foreign/perf_script.h"
#include "foreign/symbol_elf.h"
#include "symbols/image.h"

namespace qperf::foreign {
namespace {

/// A sample with its views kept.
struct Kept {
  std::string thread;
  uint64_t pid;
  uint64_t tid;
  std::optional<uint32_t> cpu;
  std::optional<uint64_t> time_ns;
  uint64_t weight;
  std::string stack;  // leaf first, "function@module"
};

class Keeper final : public SampleSink {
 public:
  Result<void> sample(const HostSample& sample) override {
    Kept kept{std::string(sample.thread), sample.pid, sample.tid, sample.cpu, sample.time_ns, sample.weight, ""};
    for (const HostFrame& frame : sample.frames)
      kept.stack += (kept.stack.empty() ? "" : ";") + std::string(frame.function) + '@' + std::string(frame.module);
    samples.push_back(std::move(kept));
    return {};
  }
  std::vector<Kept> samples;
};

class MemorySink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> more) override {
    bytes.insert(bytes.end(), more.begin(), more.end());
    return {};
  }
  std::vector<std::byte> bytes;
};

template <typename Reader>
ReadCounts read(Reader& reader, std::string_view text) {
  EXPECT_TRUE(split_lines(text, [&](std::string_view line, bool cut) { return reader.line(line, cut); }));
  if constexpr (requires { reader.finish(); }) {
    EXPECT_TRUE(reader.finish());
  }
  return reader.counts();
}

TEST(PerfScript, ReadsTheShapesOfHeads) {
  const auto full = PerfScriptReader::parse_head("  my 1.5: thread  12/34 [007] 98.000000001:  250000 cycles:P:  ffff foo+0x1 (/bin/x)");
  ASSERT_TRUE(full);
  EXPECT_EQ(full->thread, "my 1.5: thread");
  EXPECT_EQ(full->pid, 12U);
  EXPECT_EQ(full->tid, 34U);
  EXPECT_EQ(full->cpu, 7U);
  EXPECT_EQ(full->time_ns, 98000000001U);
  EXPECT_EQ(full->rest, "ffff foo+0x1 (/bin/x)");
  const auto least = PerfScriptReader::parse_head("swapper     0   5.25: ");
  ASSERT_TRUE(least);
  EXPECT_EQ(least->tid, 0U);
  EXPECT_FALSE(least->cpu);
  EXPECT_EQ(least->time_ns, 5250000000U);
  EXPECT_EQ(least->rest, "");
  for (const char* none : {"", "a", "1.5:", "a b 1.5:", "a 1 1.5", "a 1 99999999999999999999.0:", "a 1 1.0000000001:", "a 1 [x] 1.5:"})
    EXPECT_FALSE(PerfScriptReader::parse_head(none)) << none;
}

TEST(PerfScript, ReadsStacksLeafFirst) {
  Keeper keeper;
  PerfScriptReader reader(keeper);
  const ReadCounts counts = read(reader,
                                 "# header\n"
                                 "  io 7/8 [1] 1.000001: 5 cycles:\n"
                                 "\t10 leaf+0x4 (/bin/a b)\n"
                                 "\t20 operator()(int, char)+0x1f (/bin/q)\n"
                                 "\t30 small (inlined)\n"
                                 "\t40 [unknown] ([vdso])\n"
                                 "\n"
                                 "junk\n"
                                 "cafe 9 2.5: ff one+0x0 (m)\n"
                                 " cafe 9 3.5: ff two+0x0 (m)\n");
  ASSERT_EQ(keeper.samples.size(), 3U);
  EXPECT_EQ(keeper.samples[0].stack, "leaf@/bin/a b;operator()(int, char)@/bin/q;small@;@[vdso]");
  EXPECT_EQ(keeper.samples[1].stack, "one@m");
  EXPECT_EQ(keeper.samples[2].stack, "two@m");
  EXPECT_EQ(keeper.samples[2].thread, "cafe");
  EXPECT_EQ(counts.samples, 3U);
  EXPECT_EQ(counts.bad_lines, 1U);
  EXPECT_EQ(counts.first_bad_line, 8U);
}

TEST(PerfScript, BoundsStacksAndLines) {
  Keeper keeper;
  PerfScriptReader reader(keeper);
  std::string text = "a 1 1.0: cycles:\n";
  for (size_t i = 0; i < kMaxHostFrames + 5; ++i) text += "\t1 f (m)\n";
  text += "\t1 " + std::string(kMaxLineBytes + 10, 'x') + "\n";
  const ReadCounts counts = read(reader, text);
  EXPECT_EQ(counts.cut_stacks, 1U);
  EXPECT_EQ(counts.cut_lines, 1U);
  EXPECT_EQ(keeper.samples.size(), 1U);
}

TEST(Folded, ReadsCountsBehindTheLastBlank) {
  Keeper keeper;
  FoldedReader reader(keeper);
  const ReadCounts counts = read(reader, "a;b c;d 12\r\n\nx 0\nno count\n 7\na 1 2\n");
  ASSERT_EQ(keeper.samples.size(), 2U);
  EXPECT_EQ(keeper.samples[0].stack, "d@;b c@;a@");
  EXPECT_EQ(keeper.samples[0].weight, 12U);
  EXPECT_EQ(keeper.samples[1].stack, "a 1@");
  EXPECT_EQ(counts.bad_lines, 2U);
}

TEST(SymbolElf, NamesItsFunctions) {
  const std::vector<std::string> names{"main", "a b;c", "_$x", "\x01odd", "main.llvm.77"};
  const SymbolElf elf = make_symbol_elf(names);
  const std::string path = testing::TempDir() + "/symbol_elf_test.elf";
  std::ofstream(path, std::ios::binary).write(reinterpret_cast<const char*>(elf.bytes.data()), static_cast<std::streamsize>(elf.bytes.size()));
  const auto image = symbols::Image::open(path);
  ASSERT_TRUE(image) << image.error().message;
  EXPECT_EQ(image->target(), guest::Target::kX86_64);
  EXPECT_TRUE(std::ranges::equal(image->build_id(), elf.build_id));
  std::vector<GuestVa> addresses;
  for (uint32_t i = 0; i < names.size(); ++i) addresses.push_back(function_address(i));
  const auto found = image->symbolize(addresses);
  ASSERT_TRUE(found);
  for (size_t i = 0; i + 1 < names.size(); ++i) {
    ASSERT_FALSE((*found)[i].frames.empty()) << names[i];
    EXPECT_EQ((*found)[i].frames.back().function, names[i]);
    EXPECT_FALSE(image->follows_call(addresses[i]));
    EXPECT_EQ(image->function_start(addresses[i]), addresses[i]);
  }
  EXPECT_EQ((*found)[4].frames.back().function, "main");  // clone suffixes go, as for every ELF
  std::filesystem::remove(path);
}

TEST(CaptureImport, KeepsThreadsTimesAndWeights) {
  MemorySink sink;
  CaptureImport import(sink, {.format = "perf script", .start_monotonic_ns = 1000});
  HostSample sample;
  sample.thread = "io";
  sample.pid = 7;
  sample.tid = 8;
  sample.cpu = 3;
  sample.time_ns = 500;
  sample.frames = {{"leaf", ""}, {"", "/lib/libc.so"}};
  ASSERT_TRUE(import.sample(sample));  // older than the start
  sample.time_ns = 1500;
  ASSERT_TRUE(import.sample(sample));
  sample.time_ns = 1400;  // out of order by a little
  sample.weight = 5;
  ASSERT_TRUE(import.sample(sample));
  ASSERT_TRUE(import.finish("names.elf"));
  EXPECT_EQ(import.counts().before_start, 1U);

  std::vector<capture::Sample> samples;
  std::vector<capture::Event> events;
  capture::Handlers handlers;
  handlers.samples = [&](const capture::SampleChunk& chunk) -> Result<void> {
    EXPECT_EQ(chunk.vcpu.raw, 3U);
    samples.insert(samples.end(), chunk.samples.begin(), chunk.samples.end());
    EXPECT_EQ(chunk.sites.size(), 1U);
    return {};
  };
  handlers.events = [&](const capture::EventChunk& chunk) -> Result<void> {
    events.insert(events.end(), chunk.events.begin(), chunk.events.end());
    return {};
  };
  const auto summary = capture::read_capture(sink.bytes, "memory", handlers);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole());
  EXPECT_EQ(summary->header.vcpus, 4U);
  EXPECT_EQ(summary->header.start_monotonic_ns, 1000U);
  EXPECT_EQ(summary->header.elf_path, "names.elf");
  EXPECT_EQ(capture::import_format(summary->metadata), "perf script");
  ASSERT_EQ(samples.size(), 2U);
  EXPECT_EQ(samples[0].wall_ns, 500U);
  EXPECT_EQ(samples[1].wall_ns, 500U);
  EXPECT_EQ(samples[1].weight, 5U);
  EXPECT_EQ(samples[1].task, TaskId{8});
  ASSERT_EQ(events.size(), 1U);
  EXPECT_EQ(events[0].args[2], 8U);
}

TEST(CaptureImport, CountsNamesThatLoseTheirEnds) {
  MemorySink sink;
  CaptureImport import(sink, {.format = "folded stacks", .start_monotonic_ns = std::nullopt});
  const std::string longest(kMaxNameBytes, 'f');
  const std::string first = longest + "A";
  const std::string second = longest + "B";
  const std::string module = "/lib/" + longest + "C";
  HostSample sample;
  sample.frames = {{longest, ""}, {"main", ""}};
  ASSERT_TRUE(import.sample(sample));
  EXPECT_EQ(import.counts().names_cut, 0U);
  sample.frames = {{first, ""}, {second, ""}, {"", module}};
  ASSERT_TRUE(import.sample(sample));
  EXPECT_EQ(import.counts().names_cut, 3U);
}

TEST(OlderCapture, CountsWhatIsWrittenAndWhatHasNoAddress) {
  const std::string path = testing::TempDir() + "/older_capture_test.bin";
  const auto write = [&](std::string_view bytes) {
    std::ofstream(path, std::ios::binary).write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  };
  using namespace std::string_view_literals;
  write("QPERF\0\1"  // each record: vCPU, number of addresses, addresses of a byte each
        "\0\2\7\0"
        "\0\1\0"
        "\0\0"
        "\1\1\x9"sv);
  MemorySink sink;
  const auto summary = convert_older_capture(path, {}, sink);
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_EQ(summary->samples, 2U);
  EXPECT_EQ(summary->without_address, 2U);
  EXPECT_FALSE(summary->cut);
  std::filesystem::remove(path);
}

}  // namespace
}  // namespace qperf::foreign
