#pragma once

#include <cstddef>
#include <cstdint>
#include <random>
#include <span>
#include <string>
#include <vector>

#include "capture/reader.h"
#include "capture/writer.h"

/// Shared by the unit tests of this folder and by tests/compat.
namespace qperf::capture {

/// Collects in memory; fails once `room` bytes are full.
class MemorySink final : public ByteSink {
 public:
  explicit MemorySink(size_t room = SIZE_MAX) : room_(room) {}

  Result<void> write(std::span<const std::byte> bytes) override {
    if (bytes_.size() + bytes.size() > room_) return Error{ErrorCode::kIo, "no space left on device"};
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }

  [[nodiscard]] const std::vector<std::byte>& bytes() const noexcept { return bytes_; }

 private:
  size_t room_;
  std::vector<std::byte> bytes_;
};

/// All records of a capture, in file order.
struct Collected {
  std::vector<SampleChunk> samples;
  std::vector<BlockCount> counts;
  std::vector<Fingerprint> fingerprints;
  std::vector<Ledger> ledgers;
};

inline Handlers collect_into(Collected& out) {
  Handlers handlers;
  handlers.samples = [&out](const SampleChunk& chunk) {
    out.samples.push_back(chunk);
    return Result<void>();
  };
  handlers.counts = [&out](std::span<const BlockCount> counts) {
    out.counts.insert(out.counts.end(), counts.begin(), counts.end());
    return Result<void>();
  };
  handlers.fingerprints = [&out](std::span<const Fingerprint> fingerprints) {
    out.fingerprints.insert(out.fingerprints.end(), fingerprints.begin(), fingerprints.end());
    return Result<void>();
  };
  handlers.ledger = [&out](const Ledger& ledger) {
    out.ledgers.push_back(ledger);
    return Result<void>();
  };
  return handlers;
}

/// A header with every field set to something that is not its default.
inline Header full_header() {
  Header header;
  header.target = guest::Target::kAarch64;
  header.mode = guest::Mode::kIcount;
  header.freq_hz = 98;
  header.period_insns = 100003;
  header.jitter_percent = 10;
  header.kernel_range = {GuestVa{0xffff000000000000}, GuestVa{0xfffffffffffffffe}};
  header.vcpus = 4;
  header.max_vcpus = 8;
  header.start_monotonic_ns = 123456789;
  header.start_realtime_ns = 1767225600000000000;
  header.idle_known = false;
  header.plugin_api = 5;
  header.qperf_version = "0.1.0";
  header.qemu_version = "10.0.2";
  header.qemu_command_line = "qemu-system-aarch64 -M virt";
  header.plugin_arguments = "mode=icount,period=100003";
  header.elf_path = "/boot/vmlinux";
  header.elf_build_id = {std::byte{1}, std::byte{2}};
  header.trace_address = GuestVa{0};
  header.max_frames = 128;
  header.max_stack_bytes = 1 << 20;
  return header;
}

/// The capture that docs/capture-format.md shows as its worked example.
inline std::vector<std::byte> example_capture() {
  Header header;
  header.target = guest::Target::kRiscv64;
  header.mode = guest::Mode::kWall;
  header.freq_hz = 99;
  header.vcpus = 1;
  header.qperf_version = "0.1.0";
  header.trace_address = GuestVa{0xffffffff80400000};

  SampleChunk chunk;
  chunk.vcpu = VcpuIndex{0};
  chunk.sites.push_back({.pc = GuestVa{0xffffffff80200010},
                         .block_insns = 3,
                         .stop = StopReason::kBottom,
                         .link = GuestVa{0xffffffff80200100},
                         .frames = {GuestVa{0xffffffff80200200}, GuestVa{0xffffffff80200300}}});
  chunk.samples.push_back({.site = 0, .sequence = 0, .wall_ns = 10'101'010, .insns = 5000, .weight = 1, .task = kUnknownTask});
  chunk.samples.push_back({.site = 0, .sequence = 1, .wall_ns = 20'202'020, .insns = 9000, .weight = 2, .task = kUnknownTask});

  EventChunk events;
  events.vcpu = VcpuIndex{0};
  events.stacks.push_back({GuestVa{0xffffffff80200100}, GuestVa{0xffffffff80200200}});
  events.events.push_back({.sequence = 2, .wall_ns = 25'000'000, .insns = 9000, .kind = 3, .args = {7, 1, 4, 30'000'000}, .stack = 0});
  events.events.push_back({.sequence = 5, .wall_ns = 25'010'000, .insns = 9003, .kind = 2, .args = {7, 1, 3}});
  events.losses.push_back({.first_sequence = 3, .last_sequence = 4});
  events.losses.back().counts[static_cast<size_t>(EventClass::kWake)] = 2;

  Trailer trailer;
  trailer.reason = EndReason::kExit;
  trailer.end_wall_ns = 30'000'000;
  trailer.end_realtime_ns = 1'767'225'600'000'000'000;
  trailer.ledger.wall_ns = 30'000'000;
  VcpuLedger vcpu;
  vcpu.ticks = {.issued = 3, .kernel = 3};
  vcpu.kernel_insns = 9003;
  vcpu.samples_taken = vcpu.samples_stored = 2;
  vcpu.weight_stored = 3;
  vcpu.walks_by_stop[static_cast<size_t>(StopReason::kBottom)] = 2;
  vcpu.events_taken = 4;
  vcpu.events_stored[static_cast<size_t>(EventClass::kSwitch)] = 1;
  vcpu.events_stored[static_cast<size_t>(EventClass::kBlock)] = 1;
  vcpu.events_dropped_queue_full[static_cast<size_t>(EventClass::kWake)] = 2;
  trailer.ledger.vcpus.push_back(vcpu);

  MemorySink sink;
  Writer writer(sink);
  const bool written = writer.begin(header) && writer.samples(chunk) && writer.events(events) && writer.finish(trailer);
  return written ? sink.bytes() : std::vector<std::byte>();
}

}  // namespace qperf::capture
