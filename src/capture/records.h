#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/types.h"
#include "capture/events.h"
#include "guest/target.h"

/// The capture's contents as data: what the recorder hands to the encoder and what the decoder gives back.
/// The bytes are docs/capture-format.md.
namespace qperf::capture {

/// Why a frame-pointer walk ended. Values are stored in captures: never renumber.
enum class StopReason : uint8_t {
  kBottom = 0,            // a zero link: the chain's own end
  kNotAscending = 1,      // the next frame does not lie above: a cycle, or garbage
  kUnaligned = 2,         // the next frame pointer has low bits set
  kLeftStack = 3,         // the next frame pointer left [sp, sp + max_stack_bytes) for a place that is no kernel stack
  kBadReturnAddress = 4,  // the root's return address lies outside the kernel range: that root was dropped
  kNoFramePointer = 5,    // the very first frame pointer is outside [sp, sp + max_stack_bytes): no frames
  kInterruptFrame = 6,    // a frame pointer marked by the kernel's exception entry (x86_64: low bit set)
  kMaxFrames = 7,         // truncated: max_frames reached
  kMaxStackBytes = 8,     // truncated: the chain goes on beyond max_stack_bytes, still in the kernel range and ascending
  kUnreadable = 9,        // truncated: the guest memory of a plausible frame could not be read
};
inline constexpr size_t kStopReasonCount = 10;

[[nodiscard]] constexpr bool is_truncated(StopReason reason) noexcept {
  return reason == StopReason::kMaxFrames || reason == StopReason::kMaxStackBytes || reason == StopReason::kUnreadable;
}

/// Where a sample was taken: everything but counters. Samples at one site share it.
struct Site {
  GuestVa pc;                // first address of the block
  uint32_t block_insns = 0;  // instructions in the block; 0: not known
  StopReason stop = StopReason::kBottom;
  std::optional<GuestVa> link;  // link register, or [sp] on x86_64; nullopt: unreadable
  std::vector<GuestVa> frames;  // return addresses, leaf first, 0..max_frames; pc itself is not among them

  friend bool operator==(const Site&, const Site&) = default;
};

/// The task id of a sample taken before the vCPU's first switch event, or without trace events.
inline constexpr TaskId kUnknownTask{0xffffffffffffffff};

struct Sample {
  uint32_t site = 0;      // index into the chunk's sites
  uint64_t sequence = 0;  // per vCPU, shared with events, from 0; a gap is a loss
  WallNs wall_ns = 0;     // since plugin load
  Insns insns = 0;        // this vCPU's guest kernel instructions before the block
  uint64_t weight = 0;    // ticks (wall) or periods (icount)
  TaskId task = kUnknownTask;

  friend bool operator==(const Sample&, const Sample&) = default;
};

/// One vCPU's samples of one flush, in sequence order.
struct SampleChunk {
  VcpuIndex vcpu;
  std::vector<Site> sites;
  std::vector<Sample> samples;

  friend bool operator==(const SampleChunk&, const SampleChunk&) = default;
};

/// `executions` of the block at pc that has `block_insns` instructions, summed over all vCPUs, since the last such record.
struct BlockCount {
  GuestVa pc;
  uint32_t block_insns = 0;
  uint64_t executions = 0;

  friend bool operator==(const BlockCount&, const BlockCount&) = default;
};

/// The first instruction bytes of a translated kernel block, to recognize the kernel and its slide.
struct Fingerprint {
  WallNs wall_ns = 0;
  GuestVa address;
  std::vector<std::byte> bytes;  // 1..kMaxFingerprintBytes

  friend bool operator==(const Fingerprint&, const Fingerprint&) = default;
};

/// Where the ticks of a vCPU went. In wall mode issued = the sum of the others; in other modes all zero.
struct Ticks {
  uint64_t issued = 0;
  uint64_t kernel = 0;  // carried by samples that were stored
  uint64_t user = 0;
  uint64_t idle = 0;
  uint64_t other_privileged = 0;  // firmware, boot before the MMU
  uint64_t lost = 0;              // carried by samples that were dropped, or still pending at the end
  uint64_t unknown_idle = 0;      // one-thread TCG only: fell due while the thread slept, idle or blocked: not known

  friend bool operator==(const Ticks&, const Ticks&) = default;
};

/// Running totals of one vCPU since plugin load.
struct VcpuLedger {
  VcpuIndex vcpu;
  Ticks ticks;
  Insns kernel_insns = 0;
  uint64_t samples_taken = 0;   // = samples_stored + dropped_queue_full + dropped_writer
  uint64_t samples_stored = 0;  // written to the file
  uint64_t dropped_queue_full = 0;
  uint64_t dropped_writer = 0;  // taken from the queue but not written: disk full or failing
  uint64_t weight_stored = 0;
  std::array<uint64_t, kStopReasonCount> walks_by_stop{};  // of stored samples
  // In the trailer taken = the sum of the other three over all classes; before, some may still be on their way. All 0 in
  // captures of recorders that did not count them.
  uint64_t events_taken = 0;
  EventCounts events_stored{};
  EventCounts events_dropped_queue_full{};
  EventCounts events_dropped_writer{};

  friend bool operator==(const VcpuLedger&, const VcpuLedger&) = default;
};

/// All vCPUs at one moment; one each flush, the last one in the trailer.
struct Ledger {
  WallNs wall_ns = 0;
  WallNs stopped_ns = 0;             // switched off by the control socket, or (mode wall) the whole emulator stood still
  uint64_t blocks_without_slot = 0;  // translated kernel blocks that found the block table full (exact: not counted)
  uint64_t fingerprints_dropped = 0;
  std::vector<VcpuLedger> vcpus;

  friend bool operator==(const Ledger&, const Ledger&) = default;
};

/// Why a recording ended. Stored.
enum class EndReason : uint8_t { kExit = 1, kControlQuit = 2, kWriteError = 3 };

struct Trailer {
  EndReason reason = EndReason::kExit;
  WallNs end_wall_ns = 0;
  uint64_t end_realtime_ns = 0;  // CLOCK_REALTIME at end_wall_ns
  Ledger ledger;

  friend bool operator==(const Trailer&, const Trailer&) = default;
};

/// A metadata value; the index of the alternative + 1 is its stored type.
using MetadataValue = std::variant<uint64_t, int64_t, bool, std::string, std::vector<std::byte>>;

/// Typed key/value pairs. Keys are 1..kMaxKeyBytes of [a-z0-9_.]; a later pair replaces an earlier one of the same key.
using Metadata = std::map<std::string, MetadataValue>;

/// What a reader needs to know before the first chunk; stored as metadata under the keys in docs/capture-format.md.
struct Header {
  guest::Target target = guest::Target::kRiscv64;
  guest::Mode mode = guest::Mode::kWall;
  uint64_t freq_hz = 0;         // wall
  uint64_t period_insns = 0;    // icount
  uint64_t jitter_percent = 0;  // icount
  GuestRange kernel_range = guest::kDefaultKernelRange;
  uint32_t vcpus = 0;  // at start
  uint32_t max_vcpus = 0;
  uint64_t start_monotonic_ns = 0;  // CLOCK_MONOTONIC at wall ns 0
  uint64_t start_realtime_ns = 0;   // CLOCK_REALTIME at the same moment
  bool idle_known = true;
  uint32_t plugin_api = 0;
  std::string qperf_version;
  std::string qemu_version;       // empty: could not be told
  std::string qemu_command_line;  // secrets redacted
  std::string plugin_arguments;
  std::string elf_path;  // empty: not given
  std::vector<std::byte> elf_build_id;
  std::optional<GuestVa> trace_address;
  uint64_t max_frames = 0;
  uint64_t max_stack_bytes = 0;

  friend bool operator==(const Header&, const Header&) = default;
};

}  // namespace qperf::capture
