#include "capture/legacy.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <vector>

#include "base/bytes.h"
#include "capture/byte_source.h"
#include "capture/limits.h"
#include "capture/reader.h"

namespace qperf::capture {
namespace {

constexpr std::array<std::byte, 7> kLegacyMagic = {std::byte{'Q'}, std::byte{'P'}, std::byte{'E'}, std::byte{'R'},
                                                   std::byte{'F'}, std::byte{0},   std::byte{1}};

/// Numbers as bincode 2 "standard" stores them: below 251 one byte; 251, 252, 253: u16, u32, u64 follow.
std::optional<uint64_t> read_number(ByteReader& in) {
  const auto first = in.u8();
  if (!first || *first < 251) return first;
  if (*first == 251) return in.u16();
  if (*first == 252) return in.u32();
  if (*first == 253) return in.u64();
  return std::nullopt;  // 254 would be a 128-bit number, 255 is not used
}

constexpr size_t kMaxNumberBytes = 9;
constexpr size_t kMaxRecordBytes = kMaxNumberBytes * (2 + kMaxFramesPerSample);

struct LegacySample {
  VcpuIndex vcpu;
  std::vector<GuestVa> addresses;
};

/// False if the bytes end inside the record or are none.
bool read_sample(ByteReader& in, LegacySample& sample) {
  const auto vcpu = read_number(in);
  const auto count = read_number(in);
  // The count may lie: each address takes at least a byte, and nothing is allocated before that is known.
  if (!vcpu || *vcpu >= kMaxVcpus || !count || *count > kMaxFramesPerSample || *count > in.remaining()) return false;
  sample.vcpu = VcpuIndex{static_cast<uint32_t>(*vcpu)};
  sample.addresses.clear();
  for (uint64_t i = 0; i < *count; ++i) {
    const auto address = read_number(in);
    if (!address) return false;
    sample.addresses.push_back(GuestVa{*address});
  }
  return true;
}

using OnSample = std::function<Result<void>(VcpuIndex, std::span<const GuestVa>)>;

Result<LegacySummary> read_from(ByteSource& source, const OnSample& on_sample) {
  QPERF_ASSIGN_OR_RETURN(auto window, source.peek(kMaxRecordBytes));
  if (!is_legacy_capture(window))
    return Error{ErrorCode::kBadFormat, "is no capture of the older profiler: it does not begin with QPERF 00 01"};
  source.skip(kLegacyMagic.size());
  LegacySummary summary;
  LegacySample sample;
  for (;;) {
    QPERF_ASSIGN_OR_RETURN(window, source.peek(kMaxRecordBytes));
    if (window.empty()) return summary;
    ByteReader in(window);
    // Several records a look: peeking for each would move the buffer's bytes again and again.
    do {
      const size_t begin = in.position();
      if (!read_sample(in, sample)) {
        summary.cut = true;
        return summary;
      }
      QPERF_RETURN_IF_ERROR(on_sample(sample.vcpu, sample.addresses));
      ++summary.samples;
      source.skip(in.position() - begin);
    } while (in.remaining() >= kMaxRecordBytes);
  }
}

}  // namespace

bool is_legacy_capture(std::span<const std::byte> bytes) noexcept {
  return bytes.size() >= kLegacyMagic.size() && std::equal(kLegacyMagic.begin(), kLegacyMagic.end(), bytes.begin());
}

Result<LegacySummary> read_legacy_capture(const std::string& path, const OnSample& on_sample) {
  auto source = FileSource::open(path);
  if (!source) return std::move(source).error().in(path);
  auto summary = read_from(*source, on_sample);
  if (!summary) return std::move(summary).error().in(path);
  return summary;
}

Result<LegacySummary> read_legacy_capture(std::span<const std::byte> bytes, const std::string& name,
                                          const OnSample& on_sample) {
  MemorySource source(bytes);
  auto summary = read_from(source, on_sample);
  if (!summary) return std::move(summary).error().in(name);
  return summary;
}

}  // namespace qperf::capture
