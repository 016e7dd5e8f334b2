#include "capture/record_codec.h"

#include <fmt/core.h>

#include <array>

#include "capture/limits.h"
#include "capture/payload_reader.h"

namespace qperf::capture {
namespace {

constexpr size_t kLeastCountBytes = 3;
constexpr size_t kLeastFingerprintBytes = 4;

/// The order in which counters are stored. Only ever append: a reader takes those it knows, older files end earlier.
constexpr std::array<uint64_t Ledger::*, 4> kLedgerCounters = {
    &Ledger::wall_ns,
    &Ledger::stopped_ns,
    &Ledger::blocks_without_slot,
    &Ledger::fingerprints_dropped,
};
constexpr std::array<uint64_t Ticks::*, 7> kTickCounters = {
    &Ticks::issued, &Ticks::kernel, &Ticks::user, &Ticks::idle, &Ticks::other_privileged, &Ticks::lost, &Ticks::unknown_idle,
};
constexpr std::array<uint64_t VcpuLedger::*, 6> kVcpuCounters = {
    &VcpuLedger::kernel_insns,       &VcpuLedger::samples_taken,  &VcpuLedger::samples_stored,
    &VcpuLedger::dropped_queue_full, &VcpuLedger::dropped_writer, &VcpuLedger::weight_stored,
};
constexpr std::array<EventCounts VcpuLedger::*, 3> kEventCounters = {
    &VcpuLedger::events_stored,
    &VcpuLedger::events_dropped_queue_full,
    &VcpuLedger::events_dropped_writer,
};
constexpr size_t kVcpuCounterCount = kTickCounters.size() + kVcpuCounters.size() + kStopReasonCount + 1 +
                                     kEventCounters.size() * kEventClassCount;
static_assert(kVcpuCounterCount <= kMaxLedgerCounters);

/// The vCPU's counter at `index` of the stored order; nullptr for one of a newer version. Const follows `Vcpu`.
template <typename Vcpu>
auto vcpu_counter(Vcpu& vcpu, size_t index) noexcept -> decltype(&vcpu.kernel_insns) {
  if (index < kTickCounters.size()) return &(vcpu.ticks.*kTickCounters[index]);
  index -= kTickCounters.size();
  if (index < kVcpuCounters.size()) return &(vcpu.*kVcpuCounters[index]);
  index -= kVcpuCounters.size();
  if (index < kStopReasonCount) return &vcpu.walks_by_stop[index];
  index -= kStopReasonCount;
  if (index == 0) return &vcpu.events_taken;
  index -= 1;
  if (index >= kEventCounters.size() * kEventClassCount) return nullptr;
  return &(vcpu.*kEventCounters[index / kEventClassCount])[index % kEventClassCount];
}

Error too_many(const char* chunk, uint64_t found, size_t limit) {
  return Error{ErrorCode::kLimit, fmt::format("{} chunk: {} records, at most {} are allowed", chunk, found, limit)};
}

Error damaged(const char* chunk, const char* what) {
  return Error{ErrorCode::kBadFormat, fmt::format("{} chunk: {}", chunk, what)};
}

constexpr const char* kCutShort = "cut short, or a number that does not fit";
constexpr const char* kNoRoom = "more records than it has room for";
constexpr const char* kBytesLeft = "bytes behind the last record";

Result<uint64_t> counter_count(PayloadReader& in) {
  const uint64_t count = in.varint();
  if (!in.ok()) return damaged("ledger", kCutShort);
  if (count > kMaxLedgerCounters) return damaged("ledger", "too many counters");
  return count;
}

Result<Ledger> read_ledger(PayloadReader& in, uint32_t record_count) {
  if (record_count > kMaxVcpus) return too_many("ledger", record_count, kMaxVcpus);
  Ledger ledger;
  QPERF_ASSIGN_OR_RETURN(const uint64_t own_count, counter_count(in));
  for (uint64_t i = 0; i < own_count; ++i) {
    const uint64_t value = in.varint();
    if (i < kLedgerCounters.size()) ledger.*kLedgerCounters[i] = value;
  }
  QPERF_ASSIGN_OR_RETURN(const uint64_t vcpu_count, counter_count(in));
  if (record_count > in.remaining() / (1 + vcpu_count)) return damaged("ledger", kNoRoom);
  ledger.vcpus.resize(record_count);
  for (VcpuLedger& vcpu : ledger.vcpus) {
    vcpu.vcpu.raw = in.varint32();
    for (size_t i = 0; i < vcpu_count; ++i) {
      const uint64_t value = in.varint();
      if (uint64_t* counter = vcpu_counter(vcpu, i)) *counter = value;
    }
  }
  if (!in.ok()) return damaged("ledger", kCutShort);
  if (in.remaining() != 0) return damaged("ledger", kBytesLeft);
  QPERF_RETURN_IF_ERROR(check_ledger(ledger));
  return ledger;
}

}  // namespace

void encode_counts(std::span<const BlockCount> counts, ByteWriter& out) {
  uint64_t previous_pc = 0;
  for (const BlockCount& count : counts) {
    write_delta(out, previous_pc, count.pc.raw);
    previous_pc = count.pc.raw;
    out.varint(count.block_insns);
    out.varint(count.executions);
  }
}

Result<void> decode_counts(std::span<const std::byte> payload, uint32_t record_count, std::vector<BlockCount>& counts) {
  if (record_count > kMaxCountsPerChunk) return too_many("counts", record_count, kMaxCountsPerChunk);
  PayloadReader in(payload);
  if (record_count > in.remaining() / kLeastCountBytes) return damaged("counts", kNoRoom);
  counts.resize(record_count);
  uint64_t previous_pc = 0;
  for (BlockCount& count : counts) {
    count.pc.raw = previous_pc = in.delta(previous_pc);
    count.block_insns = in.varint32();
    count.executions = in.varint();
  }
  if (!in.ok()) return damaged("counts", kCutShort);
  if (in.remaining() != 0) return damaged("counts", kBytesLeft);
  return {};
}

Result<void> check_fingerprints(std::span<const Fingerprint> fingerprints) {
  for (const Fingerprint& fingerprint : fingerprints) {
    if (fingerprint.bytes.empty() || fingerprint.bytes.size() > kMaxFingerprintBytes)
      return Error{ErrorCode::kLimit, fmt::format("fingerprints chunk: a fingerprint of {} bytes, 1 to {} are allowed",
                                                  fingerprint.bytes.size(), kMaxFingerprintBytes)};
  }
  return {};
}

void encode_fingerprints(std::span<const Fingerprint> fingerprints, ByteWriter& out) {
  uint64_t previous_wall_ns = 0;
  uint64_t previous_address = 0;
  for (const Fingerprint& fingerprint : fingerprints) {
    write_delta(out, previous_wall_ns, fingerprint.wall_ns);
    write_delta(out, previous_address, fingerprint.address.raw);
    previous_wall_ns = fingerprint.wall_ns;
    previous_address = fingerprint.address.raw;
    out.u8(static_cast<uint8_t>(fingerprint.bytes.size()));
    out.bytes(fingerprint.bytes);
  }
}

Result<std::vector<Fingerprint>> decode_fingerprints(std::span<const std::byte> payload, uint32_t record_count) {
  if (record_count > kMaxFingerprintsPerChunk) return too_many("fingerprints", record_count, kMaxFingerprintsPerChunk);
  PayloadReader in(payload);
  if (record_count > in.remaining() / kLeastFingerprintBytes) return damaged("fingerprints", kNoRoom);
  std::vector<Fingerprint> fingerprints(record_count);
  uint64_t previous_wall_ns = 0;
  uint64_t previous_address = 0;
  for (Fingerprint& fingerprint : fingerprints) {
    fingerprint.wall_ns = previous_wall_ns = in.delta(previous_wall_ns);
    fingerprint.address.raw = previous_address = in.delta(previous_address);
    const auto bytes = in.bytes(in.u8());
    fingerprint.bytes.assign(bytes.begin(), bytes.end());
    if (!in.ok()) return damaged("fingerprints", kCutShort);
  }
  if (in.remaining() != 0) return damaged("fingerprints", kBytesLeft);
  QPERF_RETURN_IF_ERROR(check_fingerprints(fingerprints));
  return fingerprints;
}

Result<void> check_ledger(const Ledger& ledger) {
  if (ledger.vcpus.size() > kMaxVcpus) return too_many("ledger", ledger.vcpus.size(), kMaxVcpus);
  for (size_t i = 0; i < ledger.vcpus.size(); ++i) {
    if (ledger.vcpus[i].vcpu.raw >= kMaxVcpus) return damaged("ledger", "a vCPU number beyond the limit");
    if (i > 0 && ledger.vcpus[i].vcpu <= ledger.vcpus[i - 1].vcpu) return damaged("ledger", "vCPUs out of order");
  }
  return {};
}

void encode_ledger(const Ledger& ledger, ByteWriter& out) {
  out.varint(kLedgerCounters.size());
  for (const auto counter : kLedgerCounters) out.varint(ledger.*counter);
  out.varint(kVcpuCounterCount);
  for (const VcpuLedger& vcpu : ledger.vcpus) {
    out.varint(vcpu.vcpu.raw);
    for (size_t i = 0; i < kVcpuCounterCount; ++i) out.varint(*vcpu_counter(vcpu, i));
  }
}

Result<Ledger> decode_ledger(std::span<const std::byte> payload, uint32_t record_count) {
  PayloadReader in(payload);
  return read_ledger(in, record_count);
}

void encode_trailer(const Trailer& trailer, ByteWriter& out) {
  out.u8(static_cast<uint8_t>(trailer.reason));
  out.u64(trailer.end_wall_ns);
  out.u64(trailer.end_realtime_ns);
  encode_ledger(trailer.ledger, out);
}

Result<Trailer> decode_trailer(std::span<const std::byte> payload, uint32_t record_count) {
  PayloadReader in(payload);
  Trailer trailer;
  const uint8_t reason = in.u8();
  trailer.end_wall_ns = in.u64();
  trailer.end_realtime_ns = in.u64();
  if (!in.ok()) return damaged("trailer", kCutShort);
  if (reason < static_cast<uint8_t>(EndReason::kExit) || reason > static_cast<uint8_t>(EndReason::kWriteError))
    return damaged("trailer", "unknown end reason");
  trailer.reason = static_cast<EndReason>(reason);
  QPERF_ASSIGN_OR_RETURN(trailer.ledger, read_ledger(in, record_count));
  return trailer;
}

}  // namespace qperf::capture
