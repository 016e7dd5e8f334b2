#include "capture/sample_codec.h"

#include <fmt/core.h>

#include <iterator>

#include "capture/limits.h"
#include "capture/payload_reader.h"

namespace qperf::capture {
namespace {

constexpr uint8_t kHasLink = 0x80;
constexpr uint8_t kStopMask = 0x7f;
constexpr size_t kLeastSiteBytes = 4;    // pc, block_insns, stop, frame_count
constexpr size_t kLeastSampleBytes = 6;  // site, sequence, wall_ns, insns, weight, task

Error too_many(const char* what, uint64_t found, uint64_t limit) {
  return Error{ErrorCode::kLimit, fmt::format("samples chunk: {} {}, at most {} are allowed", found, what, limit)};
}

Error damaged(const char* record, size_t index, const char* what) {
  return Error{ErrorCode::kBadFormat, fmt::format("samples chunk: {} {}: {}", record, index, what)};
}

}  // namespace

Result<void> check_samples(const SampleChunk& chunk) {
  if (chunk.vcpu.raw >= kMaxVcpus)
    return Error{ErrorCode::kLimit, fmt::format("samples chunk: vcpu {}, at most {} are allowed", chunk.vcpu.raw, kMaxVcpus)};
  for (size_t i = 0; i < chunk.sites.size(); ++i) {
    if (chunk.sites[i].frames.size() > kMaxFramesPerSample)
      return too_many("frames of one site", chunk.sites[i].frames.size(), kMaxFramesPerSample);
    if (static_cast<uint8_t>(chunk.sites[i].stop) >= kStopReasonCount) return damaged("site", i, "unknown stop reason");
  }
  for (size_t i = 0; i < chunk.samples.size(); ++i) {
    if (chunk.samples[i].site >= chunk.sites.size()) return damaged("sample", i, "its site is not in the chunk");
  }
  return {};
}

void pack_site(const Site& site, ByteWriter& rest) {
  rest.varint(site.block_insns);
  rest.u8(static_cast<uint8_t>(static_cast<uint8_t>(site.stop) | (site.link ? kHasLink : 0)));
  if (site.link) write_delta(rest, site.pc.raw, site.link->raw);
  rest.varint(site.frames.size());
  uint64_t previous_frame = site.pc.raw;
  for (const GuestVa frame : site.frames) {
    write_delta(rest, previous_frame, frame.raw);
    previous_frame = frame.raw;
  }
}

void unpack_site(const PackedSite& packed, Site& site) {
  PayloadReader in(packed.rest);
  site.pc = packed.pc;
  site.block_insns = in.varint32();
  const uint8_t stop = in.u8();
  site.stop = static_cast<StopReason>(stop & kStopMask);
  site.link.reset();
  if ((stop & kHasLink) != 0) site.link = GuestVa{in.delta(site.pc.raw)};
  site.frames.resize(in.varint());
  uint64_t previous_frame = site.pc.raw;
  for (GuestVa& frame : site.frames) frame.raw = previous_frame = in.delta(previous_frame);
}

void encode_samples(const SampleChunk& chunk, ByteWriter& out) {
  out.varint(chunk.sites.size());
  uint64_t previous_pc = 0;
  for (const Site& site : chunk.sites) {
    write_delta(out, previous_pc, site.pc.raw);
    previous_pc = site.pc.raw;
    pack_site(site, out);
  }
  Sample previous;
  for (const Sample& sample : chunk.samples) {
    out.varint(sample.site);
    write_delta(out, previous.sequence, sample.sequence);
    write_delta(out, previous.wall_ns, sample.wall_ns);
    write_delta(out, previous.insns, sample.insns);
    out.varint(sample.weight);
    write_delta(out, previous.task.raw, sample.task.raw);
    previous = sample;
  }
}

Result<PackedSamples> SampleDecoder::decode(std::span<const std::byte> payload, VcpuIndex vcpu, uint32_t sample_count) {
  PayloadReader in(payload);
  QPERF_RETURN_IF_ERROR(decode_sites(in));
  QPERF_RETURN_IF_ERROR(decode_samples(in, sample_count));
  if (in.remaining() != 0)
    return Error{ErrorCode::kBadFormat, fmt::format("samples chunk: {} bytes behind the last sample", in.remaining())};
  return PackedSamples{.vcpu = vcpu, .sites = packed_sites_, .samples = samples_, .site_numbers = {}};
}

const SampleChunk& SampleDecoder::unpack(const PackedSamples& packed) {
  resize_sites(packed.sites.size());
  for (size_t i = 0; i < packed.sites.size(); ++i) {
    Site& site = chunk_.sites[i];
    const size_t old_capacity = site.frames.capacity();
    unpack_site(packed.sites[i], site);
    frame_capacity_ += site.frames.capacity() - old_capacity;
  }
  chunk_.vcpu = packed.vcpu;
  chunk_.samples.assign(packed.samples.begin(), packed.samples.end());
  return chunk_;
}

void SampleDecoder::resize_sites(size_t count) {
  // Else chunks whose large sites stand at ever other places would make every site large.
  if (frame_capacity_ > kMaxFramesPerChunk) {
    chunk_.sites = {};
    spare_sites_ = {};
    frame_capacity_ = 0;
  }
  while (chunk_.sites.size() > count) {
    spare_sites_.push_back(std::move(chunk_.sites.back()));
    chunk_.sites.pop_back();
  }
  while (chunk_.sites.size() < count && !spare_sites_.empty()) {
    chunk_.sites.push_back(std::move(spare_sites_.back()));
    spare_sites_.pop_back();
  }
  chunk_.sites.resize(count);
}

Result<void> SampleDecoder::decode_sites(PayloadReader& in) {
  const uint64_t site_count = in.varint();
  if (!in.ok()) return damaged("site count", 0, "cut short, or a number that does not fit");
  if (site_count > kMaxSitesPerChunk) return too_many("sites", site_count, kMaxSitesPerChunk);
  if (site_count > in.remaining() / kLeastSiteBytes)
    return damaged("site count", site_count, "more than the chunk has room for");
  packed_sites_.resize(site_count);
  size_t frames_left = kMaxFramesPerChunk;
  uint64_t previous_pc = 0;
  for (size_t i = 0; i < site_count; ++i) {
    PackedSite& site = packed_sites_[i];
    site.pc.raw = previous_pc = in.delta(previous_pc);
    const std::byte* const rest = in.at();
    (void)in.varint32();  // block_insns
    const uint8_t stop = in.u8();
    if ((stop & kStopMask) >= kStopReasonCount) return damaged("site", i, "unknown stop reason");
    if ((stop & kHasLink) != 0) (void)in.varint();
    const uint64_t frame_count = in.varint();
    if (!in.ok()) return damaged("site", i, "cut short, or a number that does not fit");
    if (frame_count > kMaxFramesPerSample) return too_many("frames of one site", frame_count, kMaxFramesPerSample);
    if (frame_count > in.remaining()) return damaged("site", i, "more frames than the chunk has room for");
    if (frame_count > frames_left) return too_many("frames of all sites", kMaxFramesPerChunk + 1, kMaxFramesPerChunk);
    frames_left -= frame_count;
    in.skip_varints(frame_count);
    if (!in.ok()) return damaged("site", i, "cut short inside its frames");
    site.rest = std::span(rest, in.at());
  }
  return {};
}

Result<void> SampleDecoder::decode_samples(PayloadReader& in, uint32_t sample_count) {
  if (sample_count > kMaxSamplesPerChunk) return too_many("samples", sample_count, kMaxSamplesPerChunk);
  if (sample_count > in.remaining() / kLeastSampleBytes)
    return damaged("sample count", sample_count, "more than the chunk has room for");
  samples_.resize(sample_count);
  const size_t site_count = packed_sites_.size();
  Sample previous;
  for (size_t i = 0; i < sample_count; ++i) {
    Sample& sample = samples_[i];
    sample.site = in.varint32();
    sample.sequence = in.delta(previous.sequence);
    sample.wall_ns = in.delta(previous.wall_ns);
    sample.insns = in.delta(previous.insns);
    sample.weight = in.varint();
    sample.task.raw = in.delta(previous.task.raw);
    if (!in.ok()) return damaged("sample", i, "cut short, or a number that does not fit");
    if (sample.site >= site_count) return damaged("sample", i, "its site is not in the chunk");
    previous = sample;
  }
  return {};
}

}  // namespace qperf::capture
