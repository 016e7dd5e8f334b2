#include <gtest/gtest.h>

#include <fstream>
#include <iterator>
#include <map>
#include <regex>
#include <sstream>

#include "capture/chunk_codec.h"
#include "capture/header_keys.h"
#include "capture/limits.h"
#include "capture/test_support.h"

/// Ties docs/capture-format.md to the code.
namespace qperf::capture {
namespace {

std::string page() {
  std::ifstream file(std::string(QPERF_SOURCE_DIR) + "/docs/capture-format.md");
  return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

/// The page's part under a heading, up to the next heading of any level.
std::string section(const std::string& heading) {
  const std::string text = page();
  const size_t begin = text.find("\n" + heading);
  EXPECT_NE(begin, std::string::npos) << heading;
  if (begin == std::string::npos) return {};
  return text.substr(begin, text.find("\n#", begin + 1) - begin);
}

TEST(FormatPage, TheWorkedExampleIsWhatTheWriterWrites) {
  std::vector<std::byte> shown;
  std::istringstream lines(section("## Worked example"));
  const std::regex dump_line("^([0-9a-f]{4})  ((?:[0-9a-f]{2} ?)+)(?: .*)?$");
  for (std::string line; std::getline(lines, line);) {
    std::smatch match;
    if (!std::regex_match(line, match, dump_line)) continue;
    EXPECT_EQ(std::stoul(match[1], nullptr, 16), shown.size()) << line;
    std::istringstream bytes(match[2]);
    for (std::string byte; bytes >> byte;) shown.push_back(static_cast<std::byte>(std::stoul(byte, nullptr, 16)));
  }
  EXPECT_EQ(shown, example_capture());
}

TEST(FormatPage, LimitsAreThoseOfTheCode) {
  const std::map<std::string, uint64_t> limits = {
      {"kMaxFileHeaderBytes", kMaxFileHeaderBytes},
      {"kMaxChunkStoredBytes", kMaxChunkStoredBytes},
      {"kMaxChunkRawBytes", kMaxChunkRawBytes},
      {"kMaxCompressionRatio", kMaxCompressionRatio},
      {"kMaxVcpus", kMaxVcpus},
      {"kMaxSamplesPerChunk", kMaxSamplesPerChunk},
      {"kMaxSitesPerChunk", kMaxSitesPerChunk},
      {"kMaxFramesPerSample", kMaxFramesPerSample},
      {"kMaxFramesPerChunk", kMaxFramesPerChunk},
      {"kMaxEventsPerChunk", kMaxEventsPerChunk},
      {"kMaxEventStacksPerChunk", kMaxEventStacksPerChunk},
      {"kMaxEventFramesPerChunk", kMaxEventFramesPerChunk},
      {"kMaxEventLossesPerChunk", kMaxEventLossesPerChunk},
      {"kMaxCountsPerChunk", kMaxCountsPerChunk},
      {"kMaxFingerprintsPerChunk", kMaxFingerprintsPerChunk},
      {"kMaxFingerprintBytes", kMaxFingerprintBytes},
      {"kMaxLedgerCounters", kMaxLedgerCounters},
      {"kMaxMetadataPairs", kMaxMetadataPairs},
      {"kMaxKeyBytes", kMaxKeyBytes},
      {"kMaxMetadataValueBytes", kMaxMetadataValueBytes},
      {"kMaxMetadataTotalBytes", kMaxMetadataTotalBytes},
  };
  std::map<std::string, uint64_t> shown;
  const std::string text = section("## Limits");
  const std::regex row("\\| `(k[A-Za-z]+)` \\| ([0-9]+) \\|");
  for (auto match = std::sregex_iterator(text.begin(), text.end(), row); match != std::sregex_iterator(); ++match)
    shown[(*match)[1]] = std::stoull((*match)[2]);
  EXPECT_EQ(shown, limits);

  // And no limit of the code is without a row.
  std::ifstream file(std::string(QPERF_SOURCE_DIR) + "/src/capture/limits.h");
  const std::string code{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
  const std::regex constant("(kMax[A-Za-z]+) =");
  EXPECT_EQ(std::distance(std::sregex_iterator(code.begin(), code.end(), constant), std::sregex_iterator()),
            static_cast<std::ptrdiff_t>(limits.size()));
}

TEST(FormatPage, EveryHeaderKeyHasItsRowAndType) {
  const char* const type_names[] = {"unsigned", "signed", "bool", "text", "bytes"};
  std::map<std::string, std::string> shown;
  const std::string text = section("### Header keys");
  const std::regex row("\\| `([a-z_.]+)` \\| ([a-z]+)");
  for (auto match = std::sregex_iterator(text.begin(), text.end(), row); match != std::sregex_iterator(); ++match)
    shown[(*match)[1]] = (*match)[2];
  std::map<std::string, std::string> written;
  for (const auto& [key, value] : metadata_of(full_header())) written[key] = type_names[value.index()];
  EXPECT_EQ(shown, written);
}

TEST(FormatPage, OffsetsAreThoseOfTheEncoder) {
  ByteWriter out;
  encode_chunk_header({.kind = 0x0101,
                       .flags = 0x0202,
                       .number = 0x03030303,
                       .stored_bytes = 0x04040404,
                       .raw_bytes = 0x05050505,
                       .record_count = 0x06060606,
                       .vcpu = 0x07070707,
                       .reserved = 0x08080808,
                       .payload_checksum = 0x0909090909090909},
                      out);
  ASSERT_EQ(out.size(), kChunkHeaderBytes);
  const std::vector<std::pair<size_t, int>> fields = {{4, 1},  {6, 2},  {8, 3},  {12, 4}, {16, 5},
                                                      {20, 6}, {24, 7}, {28, 8}, {32, 9}};
  const std::string text = section("## Chunk header");
  for (const auto& [offset, value] : fields) {
    EXPECT_EQ(std::to_integer<int>(out.view()[offset]), value);
    EXPECT_NE(std::to_integer<int>(out.view()[offset - 1]), value);
    EXPECT_NE(text.find("\n| " + std::to_string(offset) + " | "), std::string::npos) << offset;
  }
}

}  // namespace
}  // namespace qperf::capture
