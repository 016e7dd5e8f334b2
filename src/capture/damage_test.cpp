#include <gtest/gtest.h>

#include <algorithm>

#include "base/checksum.h"
#include "capture/chunk_codec.h"
#include "capture/limits.h"
#include "capture/test_support.h"

namespace qperf::capture {
namespace {

/// Where each chunk of a whole capture begins, and its end.
std::vector<size_t> chunk_offsets(std::span<const std::byte> capture) {
  std::vector<size_t> offsets;
  size_t at = kFileHeaderBytes;
  while (at < capture.size()) {
    offsets.push_back(at);
    at += kChunkHeaderBytes + decode_chunk_header(capture.subspan(at)).value().stored_bytes;
  }
  offsets.push_back(at);
  return offsets;
}

/// Metadata, samples, counts, fingerprints, a ledger, samples again, trailer.
std::vector<std::byte> varied_capture(size_t chunks_of_samples = 2) {
  MemorySink sink;
  Writer writer(sink);
  Header header;
  header.freq_hz = 99;
  EXPECT_TRUE(writer.begin(header));
  for (uint32_t i = 0; i < chunks_of_samples; ++i) {
    SampleChunk chunk;
    chunk.vcpu = VcpuIndex{i};
    for (uint64_t j = 0; j < 40; ++j) {
      const GuestVa pc{0xffffffff80000000 + j * 64};
      chunk.sites.push_back(
          {.pc = pc, .block_insns = 4, .stop = StopReason::kBottom, .link = pc + 4, .frames = {pc + 99, pc - 99}});
      chunk.samples.push_back(
          {.site = static_cast<uint32_t>(j), .sequence = j, .wall_ns = j * 10'000'000, .insns = j * 977, .weight = 1});
    }
    EXPECT_TRUE(writer.samples(chunk));
    const BlockCount count{.pc = GuestVa{0xffffffff80000040}, .block_insns = 4, .executions = 17};
    EXPECT_TRUE(writer.counts(std::span(&count, 1)));
    const Fingerprint fingerprint{
        .wall_ns = 5, .address = GuestVa{0xffffffff80000000}, .bytes = {std::byte{0x13}, std::byte{0}}};
    EXPECT_TRUE(writer.fingerprints(std::span(&fingerprint, 1)));
    Ledger ledger;
    ledger.vcpus.resize(1);
    EXPECT_TRUE(writer.ledger(ledger));
  }
  EXPECT_TRUE(writer.finish({}));
  EXPECT_TRUE(writer.metadata({{"label.after", std::string("the trailer")}}));
  return sink.bytes();
}

TEST(Damage, EveryPrefixReadsUpToItsLastWholeChunk) {
  const auto capture = varied_capture();
  const auto offsets = chunk_offsets(capture);
  ASSERT_EQ(offsets.size(), 1 + 8 + 1 + 1 + 1U);
  for (size_t size = 0; size < capture.size(); ++size) {
    const auto prefix = std::span(capture).first(size);
    Collected read;
    const auto summary = read_capture(prefix, "prefix", collect_into(read));
    if (size < offsets[1]) {
      ASSERT_FALSE(summary) << size;
      EXPECT_TRUE(summary.error().code == ErrorCode::kTruncated || size == 0) << size;
      continue;
    }
    ASSERT_TRUE(summary) << size << ": " << summary.error().message;
    const auto next = std::upper_bound(offsets.begin(), offsets.end(), size);
    const auto whole = static_cast<size_t>(next - offsets.begin()) - 1;
    const Integrity& integrity = summary->integrity;
    EXPECT_EQ(integrity.cut, offsets[whole] != size) << size;
    EXPECT_EQ(integrity.finished, whole >= 10) << size;
    EXPECT_EQ(integrity.damaged_chunks + integrity.missing_chunks + integrity.skipped_bytes, 0U)
        << size << integrity.first_damage;
    EXPECT_EQ(read.samples.size(), (whole >= 2 ? 1U : 0U) + (whole >= 6 ? 1U : 0U)) << size;
    EXPECT_EQ(read.ledgers.size(), (whole >= 5 ? 1U : 0U) + (whole >= 9 ? 1U : 0U) + (whole >= 10 ? 1U : 0U)) << size;
  }
}

TEST(Damage, EveryFlippedBitIsNoticedAndCostsOneChunk) {
  const auto capture = varied_capture();
  Collected whole;
  ASSERT_TRUE(read_capture(capture, "whole", collect_into(whole)));
  for (size_t at = 0; at < capture.size(); ++at) {
    for (int bit = 0; bit < 8; ++bit) {
      auto flipped = capture;
      flipped[at] ^= static_cast<std::byte>(1 << bit);
      Collected read;
      const auto summary = read_capture(flipped, "flipped", collect_into(read));
      if (!summary) {
        EXPECT_FALSE(summary.error().message.empty());
        EXPECT_LT(at, chunk_offsets(capture)[1]);  // the file header and the header's chunk
        continue;
      }
      const Integrity& integrity = summary->integrity;
      EXPECT_FALSE(integrity.whole() && summary->metadata.contains("label.after")) << at;
      EXPECT_FALSE(integrity.first_damage.empty() && !integrity.cut) << at;
      EXPECT_LE(integrity.damaged_chunks + integrity.missing_chunks, 1U) << at << ": " << integrity.first_damage;
      const size_t lost = whole.samples.size() - read.samples.size() + whole.counts.size() - read.counts.size() +
                          whole.fingerprints.size() - read.fingerprints.size() + whole.ledgers.size() - read.ledgers.size();
      EXPECT_LE(lost, 1U) << at;
    }
  }
}

TEST(Damage, LostAndAddedBytesInTheMiddleCostOneChunk) {
  const auto capture = varied_capture();
  const auto offsets = chunk_offsets(capture);
  const auto middle = static_cast<std::ptrdiff_t>(offsets[1] + kChunkHeaderBytes + 10);
  auto shorter = capture;
  shorter.erase(shorter.begin() + middle, shorter.begin() + middle + 20);
  auto longer = capture;
  longer.insert(longer.begin() + middle, 33, std::byte{0x9e});
  for (const auto& bytes : {shorter, longer}) {
    Collected read;
    const auto summary = read_capture(bytes, "damaged", collect_into(read));
    ASSERT_TRUE(summary);
    EXPECT_TRUE(summary->integrity.finished);
    EXPECT_FALSE(summary->integrity.cut);
    EXPECT_EQ(summary->integrity.damaged_chunks, 1U);
    EXPECT_EQ(summary->integrity.missing_chunks, 0U);
    EXPECT_EQ(read.samples.size(), 1U);
    EXPECT_EQ(read.counts.size(), 2U);
  }
}

TEST(Damage, AMissingChunkIsCounted) {
  const auto capture = varied_capture();
  const auto offsets = chunk_offsets(capture);
  auto without = capture;
  without.erase(without.begin() + static_cast<std::ptrdiff_t>(offsets[2]),
                without.begin() + static_cast<std::ptrdiff_t>(offsets[4]));
  const auto summary = read_capture(without, "gap", Handlers{});
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->integrity.missing_chunks, 2U);
  EXPECT_EQ(summary->integrity.damaged_chunks, 0U);
}

TEST(Damage, ARepeatedChunkIsNotCountedTwice) {
  const auto capture = varied_capture();
  const auto offsets = chunk_offsets(capture);
  auto repeated = capture;
  const std::vector<std::byte> samples(capture.begin() + static_cast<std::ptrdiff_t>(offsets[1]),
                                       capture.begin() + static_cast<std::ptrdiff_t>(offsets[2]));
  repeated.insert(repeated.begin() + static_cast<std::ptrdiff_t>(offsets[3]), samples.begin(), samples.end());
  Collected read;
  const auto summary = read_capture(repeated, "repeated", collect_into(read));
  ASSERT_TRUE(summary);
  EXPECT_EQ(summary->integrity.damaged_chunks, 1U);
  EXPECT_EQ(read.samples.size(), 2U);
}

/// A capture of one more chunk after the header's, with a header and payload of the caller's choice and right checksums.
Result<Summary> read_with_chunk(ChunkHeader header, std::span<const std::byte> payload) {
  const auto capture = varied_capture(0);
  const auto offsets = chunk_offsets(capture);
  header.number = header.number == 0 ? 1 : header.number;
  header.payload_checksum = xxh3_64(payload);
  ByteWriter out;
  out.bytes(std::span(capture).first(offsets[1]));
  encode_chunk_header(header, out);
  out.bytes(payload);
  Collected read;
  return read_capture(out.view(), "crafted", collect_into(read));
}

ChunkHeader header_for(ChunkKind kind, size_t stored, size_t raw, uint32_t records) {
  ChunkHeader header;
  header.kind = static_cast<uint16_t>(kind);
  header.stored_bytes = static_cast<uint32_t>(stored);
  header.raw_bytes = static_cast<uint32_t>(raw);
  header.record_count = records;
  header.vcpu = kind == ChunkKind::kSamples ? 0 : kNoVcpu;
  return header;
}

uint64_t damage_of(const ChunkHeader& header, std::span<const std::byte> payload) {
  const auto summary = read_with_chunk(header, payload);
  EXPECT_TRUE(summary) << summary.error().message;
  return summary ? summary->integrity.damaged_chunks : 0;
}

TEST(Damage, AbsurdLengthsAreRefused) {
  EXPECT_EQ(damage_of(header_for(ChunkKind::kSamples, 0xffffffff, 0xffffffff, 1), {}), 1U);
  EXPECT_EQ(damage_of(header_for(ChunkKind::kSamples, 0, 0xffffffff, 1), {}), 1U);
  // Counts that claim far more than the payload holds.
  for (const ChunkKind kind : {ChunkKind::kMetadata, ChunkKind::kSamples, ChunkKind::kCounts, ChunkKind::kFingerprints,
                               ChunkKind::kLedger, ChunkKind::kTrailer}) {
    for (const uint32_t records : {1U, 1000U, 1U << 20, 0xffffffffU}) {
      ByteWriter payload;
      payload.varint(0);
      EXPECT_EQ(damage_of(header_for(kind, payload.size(), payload.size(), records), payload.view()), 1U);
    }
  }
  EXPECT_EQ(damage_of(header_for(ChunkKind::kSamples, 0, 0, 0), {}), 1U);  // not even a site count
  // Site and frame counts inside the payload.
  for (const uint64_t count : {uint64_t{100}, uint64_t{1} << 20, uint64_t{1} << 40, ~uint64_t{0}}) {
    ByteWriter sites;
    sites.varint(count);
    EXPECT_EQ(damage_of(header_for(ChunkKind::kSamples, sites.size(), sites.size(), 0), sites.view()), 1U);
    ByteWriter frames;
    frames.varint(1);
    frames.u32(0);  // pc, block_insns, stop, and a byte of the count below
    ByteWriter claimed;
    claimed.bytes(frames.view().first(4));
    claimed.varint(count);
    EXPECT_EQ(damage_of(header_for(ChunkKind::kSamples, claimed.size(), claimed.size(), 0), claimed.view()), 1U);
  }
}

TEST(Damage, ReservedBitsAndMisplacedFieldsAreRefused) {
  ByteWriter payload;
  encode_file_header({}, payload);  // any bytes
  const auto base = header_for(ChunkKind::kMetadata, 0, 0, 0);
  EXPECT_EQ(damage_of(base, {}), 0U);
  auto header = base;
  header.flags = 2;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = base;
  header.reserved = 1;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = base;
  header.vcpu = 0;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = base;
  header.raw_bytes = 1;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = header_for(ChunkKind::kSamples, 0, 0, 0);
  header.vcpu = kMaxVcpus;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = header_for(ChunkKind::kLedger, 0, 0, 0);
  header.number = kUnnumbered;
  EXPECT_EQ(damage_of(header, {}), 1U);
  header = header_for(ChunkKind::kCounts, payload.size(), payload.size(), 0);
  EXPECT_EQ(damage_of(header, payload.view()), 1U);  // bytes behind the last record
}

TEST(Damage, UnknownKindsArePassedOver) {
  for (const uint16_t kind : {uint16_t{0}, uint16_t{8}, uint16_t{0xffff}}) {
    auto header = header_for(ChunkKind::kMetadata, 5, 9, 77);
    header.kind = kind;
    header.flags = 0x8000;
    const auto summary = read_with_chunk(header, std::vector<std::byte>(5));
    ASSERT_TRUE(summary);
    EXPECT_EQ(summary->integrity.unknown_chunks, 1U);
    EXPECT_EQ(summary->integrity.damaged_chunks, 0U);
  }
}

TEST(Damage, ADecompressionBombIsRefused) {
  Compressor compressor;
  const std::vector<std::byte> zeros(kMaxChunkRawBytes);
  // The compressor itself refuses to be that good, so that every chunk it makes can be read.
  EXPECT_TRUE(compressor.compress(zeros).empty());
  std::vector<std::byte> half(1 << 16);
  for (size_t i = 0; i < half.size(); i += 64) half[i] = static_cast<std::byte>(i * 31 >> 6);
  const auto frame = compressor.compress(half);
  ASSERT_FALSE(frame.empty());
  auto header = header_for(ChunkKind::kMetadata, frame.size(), half.size(), 0);
  header.flags = kFlagZstd;
  header.raw_bytes = kMaxChunkRawBytes;
  EXPECT_EQ(damage_of(header, frame), 1U);
  header.raw_bytes = 100;  // smaller than what the frame holds
  EXPECT_EQ(damage_of(header, frame), 1U);
}

TEST(Damage, AHandlersErrorEndsTheReading) {
  Handlers handlers;
  handlers.samples = [](const SampleChunk&) { return Result<void>(Error{ErrorCode::kIo, "no more"}); };
  const auto summary = read_capture(varied_capture(), "capture.bin", handlers);
  ASSERT_FALSE(summary);
  EXPECT_EQ(summary.error().message, "capture.bin: no more");
}

}  // namespace
}  // namespace qperf::capture
