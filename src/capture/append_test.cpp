#include <gtest/gtest.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

#include "capture/format.h"
#include "capture/header_keys.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

/// A file of its own for each test, gone afterwards.
class AppendMetadata : public testing::Test {
 protected:
  AppendMetadata() {
    const int file = ::mkstemp(path_.data());
    if (file >= 0) ::close(file);
  }
  ~AppendMetadata() override { ::unlink(path_.c_str()); }

  void store(std::span<const std::byte> bytes) const {
    std::ofstream file(path_, std::ios::binary | std::ios::trunc);
    file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  }
  [[nodiscard]] std::string stored() const {
    std::ifstream file(path_, std::ios::binary);
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  }

  std::string path_ = testing::TempDir() + "qperf-append-XXXXXX";
};

TEST_F(AppendMetadata, AddsAndReplacesBehindTheTrailer) {
  store(example_capture());
  ASSERT_TRUE(append_metadata(path_.c_str(), {{"label.run", std::string("first")}}));
  ASSERT_TRUE(
      append_metadata(path_.c_str(), {{"label.run", std::string("second")}, {std::string(kElfPathKey), std::string("/k")}}));
  Collected read;
  const auto summary = read_capture(path_, collect_into(read));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_TRUE(summary->integrity.whole()) << summary->integrity.first_damage;
  EXPECT_EQ(summary->metadata.at("label.run"), MetadataValue(std::string("second")));
  EXPECT_EQ(summary->header.elf_path, "/k");
  EXPECT_EQ(read.samples.size(), 1U);
}

TEST_F(AppendMetadata, ToACutCaptureKeepsWhatIsWhole) {
  const auto whole = example_capture();
  store(std::span(whole).first(whole.size() - 10));
  ASSERT_TRUE(append_metadata(path_.c_str(), {{"label.run", true}}));
  Collected read;
  const auto summary = read_capture(path_, collect_into(read));
  ASSERT_TRUE(summary) << summary.error().message;
  EXPECT_FALSE(summary->integrity.finished);
  EXPECT_EQ(summary->integrity.damaged_chunks, 1U);
  EXPECT_EQ(read.samples.size(), 1U);
  EXPECT_TRUE(summary->metadata.contains("label.run"));
}

TEST_F(AppendMetadata, LeavesOtherFilesAlone) {
  const std::string text = "no capture";
  store(std::as_bytes(std::span(text)));
  const auto appended = append_metadata(path_.c_str(), {{"label", true}});
  ASSERT_FALSE(appended);
  EXPECT_EQ(appended.error().message.find(path_ + ": is no qperf capture"), 0U) << appended.error().message;
  EXPECT_EQ(stored(), text);
  EXPECT_FALSE(append_metadata((path_ + ".absent").c_str(), {}));
  store(example_capture());
  EXPECT_FALSE(append_metadata(path_.c_str(), {{"Bad Key", true}}));
  EXPECT_EQ(stored().size(), example_capture().size());
}

TEST_F(AppendMetadata, WaitsForNoRecorder) {
  store(example_capture());
  std::FILE* recorder = std::fopen(path_.c_str(), "r");
  ASSERT_NE(recorder, nullptr);
  ASSERT_EQ(::flock(fileno(recorder), LOCK_EX), 0);
  EXPECT_FALSE(append_metadata(path_.c_str(), {{"label", true}}));
  std::fclose(recorder);
  EXPECT_TRUE(append_metadata(path_.c_str(), {{"label", true}}));
}

TEST_F(AppendMetadata, AFileReadsAsItsBytesDo) {
  // More than the file buffer's first size, in chunks of very different sizes, cut and not.
  MemorySink sink;
  Writer writer(sink);
  Header header;
  header.freq_hz = 99;
  ASSERT_TRUE(writer.begin(header));
  for (uint64_t i = 0; i < 300; ++i) {
    SampleChunk chunk;
    for (uint64_t j = 0; j < 1 + (i * i) % 700; ++j) {
      chunk.sites.push_back(
          {.pc = GuestVa{i * j * 0x9e3779b97f4a7c15}, .block_insns = 1, .stop = {}, .link = {}, .frames = {GuestVa{j}}});
      chunk.samples.push_back({.site = static_cast<uint32_t>(j), .sequence = i * j, .wall_ns = j, .insns = i, .weight = 1});
    }
    ASSERT_TRUE(writer.samples(chunk));
  }
  ASSERT_TRUE(writer.finish({}));
  const auto& bytes = sink.bytes();
  ASSERT_GT(bytes.size(), size_t{1} << 20);
  auto flipped = bytes;
  for (size_t at = 5000; at < flipped.size(); at += 37'000) flipped[at] ^= std::byte{1};
  // A hole larger than the search window.
  auto holed = bytes;
  holed.insert(holed.begin() + 200'000, size_t{3} << 20, std::byte{0x9e});
  for (const auto& variant : {bytes, flipped, holed, std::vector<std::byte>(bytes.begin(), bytes.begin() + 777'777)}) {
    store(variant);
    Collected from_file;
    Collected from_memory;
    const auto file = read_capture(path_, collect_into(from_file));
    const auto memory = read_capture(variant, "memory", collect_into(from_memory));
    ASSERT_TRUE(file && memory);
    EXPECT_EQ(from_file.samples, from_memory.samples);
    EXPECT_EQ(file->integrity.cut, memory->integrity.cut);
    EXPECT_EQ(file->integrity.damaged_chunks, memory->integrity.damaged_chunks);
    EXPECT_EQ(file->integrity.missing_chunks, memory->integrity.missing_chunks);
    EXPECT_EQ(file->integrity.skipped_bytes, memory->integrity.skipped_bytes);
    EXPECT_EQ(file->integrity.first_damage, memory->integrity.first_damage);
    EXPECT_EQ(file->trailer, memory->trailer);
  }
}

TEST_F(AppendMetadata, FilesThatAreNoneGiveAnError) {
  EXPECT_EQ(read_capture(path_ + ".absent", Handlers{}).error().code, ErrorCode::kNotFound);
  EXPECT_EQ(read_capture(testing::TempDir(), Handlers{}).error().code, ErrorCode::kIo);
  EXPECT_EQ(read_capture("-", Handlers{}).error().code, ErrorCode::kUsage);
  EXPECT_FALSE(read_capture(path_, Handlers{}));  // empty
}

}  // namespace
}  // namespace qperf::capture
