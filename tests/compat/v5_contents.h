#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "capture/records.h"

/// What v5.qperf holds. Never change it with the file in place: the file is what version 5 once wrote.
namespace qperf::compat {

inline capture::Header v5_header() {
  capture::Header header;
  header.target = guest::Target::kAarch64;
  header.mode = guest::Mode::kIcount;
  header.period_insns = 100'003;
  header.jitter_percent = 10;
  header.kernel_range = {GuestVa{0xffff000000000000}, GuestVa{0xffffffffffffffff}};
  header.vcpus = 2;
  header.max_vcpus = 4;
  header.start_monotonic_ns = 1'234'567'890;
  header.start_realtime_ns = 1'767'225'600'000'000'000;
  header.idle_known = false;
  header.plugin_api = 5;
  header.qperf_version = "0.1.0";
  header.qemu_version = "10.0.2";
  header.qemu_command_line = "qemu-system-aarch64 -M virt -cpu max -smp 2";
  header.plugin_arguments = "mode=icount,period=100003,jitter=10";
  header.elf_path = "/boot/vmlinux";
  header.elf_build_id = {std::byte{0xab}, std::byte{0xcd}, std::byte{0xef}};
  header.trace_address = GuestVa{0xffff800080010000};
  header.max_frames = 128;
  header.max_stack_bytes = 1'048'576;
  return header;
}

/// Every stop reason, with and without link, stacks of 0 to 19 frames; long enough to be compressed.
inline capture::SampleChunk v5_samples(uint32_t vcpu) {
  capture::SampleChunk chunk;
  chunk.vcpu = VcpuIndex{vcpu};
  for (uint64_t i = 0; i < 60; ++i) {
    capture::Site site;
    site.pc = GuestVa{0xffff800080000000 + i * i * 64 + vcpu};
    site.block_insns = static_cast<uint32_t>(i % 7);
    site.stop = static_cast<capture::StopReason>(i % capture::kStopReasonCount);
    if (i % 3 != 0) site.link = GuestVa{0xffff800080100000 - i * 4};
    for (uint64_t frame = 0; frame < i % 20; ++frame)
      site.frames.push_back(GuestVa{0xffff800080200000 + frame * 0x1234 - i * 0x777});
    chunk.sites.push_back(site);
  }
  for (uint64_t i = 0; i < 200; ++i)
    chunk.samples.push_back({.site = static_cast<uint32_t>(i * 7 % 60),
                             .sequence = i + i / 50,
                             .wall_ns = 1'000'000 + i * i * 977,
                             .insns = i * 100'003,
                             .weight = 1 + i % 3,
                             .task = i < 100 ? capture::kUnknownTask : TaskId{0xffff000012340000 + i % 5 * 0x40}});
  return chunk;
}

inline std::vector<capture::BlockCount> v5_counts() {
  return {
      {GuestVa{0xffff800080000000}, 5, 1}, {GuestVa{0xffff800080000014}, 1, 1'000'000'000'000}, {GuestVa{0}, 0xffffffff, 0}};
}

inline std::vector<capture::Fingerprint> v5_fingerprints() {
  return {{.wall_ns = 10, .address = GuestVa{0xffff800080000000}, .bytes = {std::byte{0x1f}, std::byte{0x20}, std::byte{0x03}}},
          {.wall_ns = 20, .address = GuestVa{0xffff80007fffff00}, .bytes = std::vector<std::byte>(64, std::byte{0xd5})}};
}

inline capture::Ledger v5_ledger(uint64_t scale) {
  capture::Ledger ledger;
  ledger.wall_ns = 1'000'000'000 * scale;
  ledger.stopped_ns = 17;
  ledger.blocks_without_slot = 18;
  ledger.fingerprints_dropped = 19;
  for (const uint32_t number : {0U, 3U}) {
    capture::VcpuLedger vcpu;
    vcpu.vcpu = VcpuIndex{number};
    vcpu.ticks = {.issued = 28 * scale, .kernel = 1, .user = 2, .idle = 3, .other_privileged = 4, .lost = 5, .unknown_idle = 6};
    vcpu.kernel_insns = 20'000'600;
    vcpu.samples_taken = 206;
    vcpu.samples_stored = 200;
    vcpu.dropped_queue_full = 4;
    vcpu.dropped_writer = 2;
    vcpu.weight_stored = 399;
    for (size_t i = 0; i < vcpu.walks_by_stop.size(); ++i) vcpu.walks_by_stop[i] = 20 + i;
    ledger.vcpus.push_back(vcpu);
  }
  return ledger;
}

inline capture::Trailer v5_trailer() {
  return {capture::EndReason::kControlQuit, 2'500'000'000, 1'767'225'602'500'000'000, v5_ledger(2)};
}

/// Written behind the trailer, the second time by appending to the file.
inline capture::Metadata v5_labels() {
  return {{"label.text", std::string("gc 线程")},
          {"label.signed", int64_t{-5}},
          {"label.bool", true},
          {"label.unsigned", uint64_t{7}},
          {"label.bytes", std::vector<std::byte>{std::byte{0}, std::byte{0xff}}}};
}
inline capture::Metadata v5_appended() {
  return {{"label.text", std::string("replaced")}, {"kernel.elf_path", std::string("/later")}};
}

}  // namespace qperf::compat
