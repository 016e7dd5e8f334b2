#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <vector>

#include "capture/events.h"
#include "capture/metadata_codec.h"
#include "capture/record_codec.h"
#include "capture/sample_codec.h"

namespace {

void require(bool holds) {
  if (!holds) std::abort();
}

/// Decoded records encode to something that decodes to them: the decoders accept nothing that the encoders cannot say.
template <typename Records, typename Encode, typename Decode>
void require_round_trip(const Records& records, Encode encode, Decode decode) {
  qperf::ByteWriter out;
  encode(records, out);
  const auto again = decode(out.view());
  require(again.ok() && *again == records);
}

}  // namespace

/// The payload decoders without the checksums that would keep a fuzzer out. The first byte chooses the kind, the next four are
/// the record count.
extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace qperf::capture;
  qperf::ByteReader in(std::as_bytes(std::span(data, size)));
  const auto kind = in.u8();
  const auto records = in.u32();
  if (!kind || !records) return 0;
  const auto payload = *in.bytes(in.remaining());
  switch (*kind % 7) {
    case 0: {
      // One decoder over two payloads: what the first leaves behind must not show in the second.
      SampleDecoder decoder;
      const auto half = payload.size() / 2;
      (void)decoder.decode(payload.first(half), qperf::VcpuIndex{1}, *records / 2).ok();
      const auto packed = decoder.decode(payload, qperf::VcpuIndex{0}, *records);
      if (!packed) break;
      const SampleChunk& chunk = decoder.unpack(*packed);
      require(check_samples(chunk).ok());
      require_round_trip(chunk, encode_samples, [&](std::span<const std::byte> bytes) -> qperf::Result<SampleChunk> {
        SampleDecoder fresh;
        QPERF_ASSIGN_OR_RETURN(const PackedSamples again, fresh.decode(bytes, qperf::VcpuIndex{0}, *records));
        return fresh.unpack(again);
      });
      break;
    }
    case 1: {
      std::vector<BlockCount> counts;
      if (!decode_counts(payload, *records, counts)) break;
      require_round_trip(
          counts, [](const auto& all, qperf::ByteWriter& out) { encode_counts(all, out); },
          [&](std::span<const std::byte> bytes) -> qperf::Result<std::vector<BlockCount>> {
            std::vector<BlockCount> again;
            QPERF_RETURN_IF_ERROR(decode_counts(bytes, *records, again));
            return again;
          });
      break;
    }
    case 2: {
      const auto fingerprints = decode_fingerprints(payload, *records);
      if (!fingerprints) break;
      require_round_trip(
          *fingerprints, [](const auto& all, qperf::ByteWriter& out) { encode_fingerprints(all, out); },
          [&](std::span<const std::byte> bytes) { return decode_fingerprints(bytes, *records); });
      break;
    }
    case 3: {
      const auto ledger = decode_ledger(payload, *records);
      if (!ledger) break;
      require_round_trip(*ledger, encode_ledger,
                         [&](std::span<const std::byte> bytes) { return decode_ledger(bytes, *records); });
      break;
    }
    case 4: {
      const auto trailer = decode_trailer(payload, *records);
      if (!trailer) break;
      require_round_trip(*trailer, encode_trailer,
                         [&](std::span<const std::byte> bytes) { return decode_trailer(bytes, *records); });
      break;
    }
    case 5: {
      MetadataCollector collector;
      if (!collector.add(payload, *records)) break;
      require(check_metadata(collector.metadata()).ok());
      MetadataCollector again;
      qperf::ByteWriter out;
      require(encode_metadata(collector.metadata(), out, [&](uint32_t pairs) { return again.add(out.view(), pairs); }).ok());
      require(again.metadata() == collector.metadata());
      break;
    }
    case 6: {
      EventDecoder decoder;
      const auto half = payload.size() / 2;
      (void)decoder.decode(payload.first(half), qperf::VcpuIndex{1}, *records / 2).ok();
      const auto chunk = decoder.decode(payload, qperf::VcpuIndex{0}, *records);
      if (!chunk) break;
      require(check_events(**chunk).ok());
      require_round_trip(**chunk, encode_events, [&](std::span<const std::byte> bytes) -> qperf::Result<EventChunk> {
        EventDecoder fresh;
        QPERF_ASSIGN_OR_RETURN(const EventChunk* again, fresh.decode(bytes, qperf::VcpuIndex{0}, *records));
        return *again;
      });
      break;
    }
    default: break;
  }
  return 0;
}
