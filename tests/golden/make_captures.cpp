#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>
#include <vector>

#include "base/bytes.h"
#include "capture/writer.h"
#include "symbols/image.h"

/// Writes the captures of the golden cases into the folder that holds their ELFs. Everything in them is fixed, so that the same
/// bytes come out on every machine.
namespace qperf {
namespace {

using capture::Sample;
using capture::Site;
using capture::StopReason;

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "make_captures: %s\n", message.c_str());
  std::exit(1);
}

template <typename T>
T need(Result<T> result) {
  if (!result) die(result.error().message);
  return *std::move(result);
}

void need(const Result<void>& result) {
  if (!result) die(result.error().message);
}

class MemorySink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> bytes_;
};

/// The golden kernel's addresses by name.
class Kernel {
 public:
  explicit Kernel(const std::string& path) : image_(need(symbols::Image::open(path))) {}

  [[nodiscard]] GuestVa start_of(const char* function) const {
    const auto address = image_.symbol_address(function);
    if (!address) die(std::string("no symbol ") + function);
    return *address;
  }

  /// Where the n-th call of a function returns to.
  [[nodiscard]] GuestVa after_call(const char* function, int n = 0) const {
    const GuestVa start = start_of(function);
    for (GuestVa address = start + 2; address < start + 0x100; address = address + 2)
      if (image_.follows_call(address) && n-- == 0) return address;
    die(std::string("too few calls in ") + function);
  }

  [[nodiscard]] const symbols::Image& image() const noexcept { return image_; }

 private:
  symbols::Image image_;
};

constexpr GuestVa kNameless{0xffffffff80010004};
constexpr GuestVa kModuleCode{0xffffffff02001230};
constexpr GuestVa kData{0xffffffd800123456};

/// The stacks that the cases are about.
std::vector<Site> sites_of(const Kernel& kernel) {
  const GuestVa in_start = kernel.after_call("start_kernel");
  const GuestVa in_recursive = kernel.after_call("start_kernel", 1);
  const GuestVa in_middle = kernel.after_call("middle");
  const GuestVa garbage{0x1234};
  return {
      // 0: leaf's frame is set up: the chain holds middle (with its inlined call) and start_kernel.
      {.pc = kernel.start_of("leaf") + 8,
       .block_insns = 4,
       .stop = StopReason::kBottom,
       .link = garbage,
       .frames = {in_middle, in_start}},
      // 1: at leaf's entry the frame pointer still is middle's: middle is in the link register only.
      {.pc = kernel.start_of("leaf"), .block_insns = 8, .stop = StopReason::kBottom, .link = in_middle, .frames = {in_start}},
      // 2: recursion: the link register and the first frame are equal and both count.
      {.pc = kernel.start_of("recursive"),
       .block_insns = 5,
       .stop = StopReason::kBottom,
       .link = kernel.after_call("recursive", 0),
       .frames = {kernel.after_call("recursive", 0), in_recursive}},
      // 3: no symbol covers it.
      {.pc = kNameless, .block_insns = 2, .stop = StopReason::kBottom, .link = garbage, .frames = {in_start}},
      // 4: a module called by the kernel.
      {.pc = kModuleCode,
       .block_insns = 3,
       .stop = StopReason::kBottom,
       .link = garbage,
       .frames = {kModuleCode + 0x20, in_start}},
      // 5: the root is data, not code.
      {.pc = kernel.start_of("middle") + 8,
       .block_insns = 6,
       .stop = StopReason::kLeftStack,
       .link = garbage,
       .frames = {in_start, kData}},
      // 6: cut short: what looks like a bad root is not the root.
      {.pc = kernel.start_of("middle") + 8,
       .block_insns = 6,
       .stop = StopReason::kMaxFrames,
       .link = garbage,
       .frames = {in_start, kData}},
      // 7: an entry label as root.
      {.pc = kernel.start_of("idle_task") + 8,
       .block_insns = 2,
       .stop = StopReason::kBottom,
       .link = garbage,
       .frames = {kernel.start_of("ret_from_fork")}},
      // 8: assembly without CFI, its caller in the link register.
      {.pc = kernel.start_of("asm_copy") + 2,
       .block_insns = 2,
       .stop = StopReason::kBottom,
       .link = kernel.after_call("call_copy"),
       .frames = {in_start}},
      // 9: the recorder dropped the root.
      {.pc = kernel.start_of("idle_task") + 8,
       .block_insns = 2,
       .stop = StopReason::kBadReturnAddress,
       .link = garbage,
       .frames = {in_start}},
      // 10: an interrupt frame ended the walk.
      {.pc = kernel.start_of("idle_task") + 8,
       .block_insns = 2,
       .stop = StopReason::kInterruptFrame,
       .link = garbage,
       .frames = {in_start}},
      // 11: no frame pointer at all.
      {.pc = kernel.start_of("leaf") + 8, .block_insns = 4, .stop = StopReason::kNoFramePointer, .link = garbage, .frames = {}},
  };
}

struct Recording {
  capture::Header header;
  std::vector<capture::SampleChunk> chunks;
  std::vector<capture::BlockCount> counts;
  std::vector<capture::Fingerprint> fingerprints;
  capture::Trailer trailer;
  capture::Metadata metadata;
};

/// `end_of_samples`, if given, gets the offset behind the last sample chunk.
std::vector<std::byte> encode(const Recording& recording, size_t* end_of_samples = nullptr) {
  MemorySink sink;
  capture::Writer writer(sink);
  need(writer.begin(recording.header));
  if (!recording.fingerprints.empty()) need(writer.fingerprints(recording.fingerprints));
  for (const auto& chunk : recording.chunks) need(writer.samples(chunk));
  if (end_of_samples != nullptr) *end_of_samples = sink.bytes_.size();
  if (!recording.counts.empty()) need(writer.counts(recording.counts));
  need(writer.finish(recording.trailer));
  if (!recording.metadata.empty()) need(writer.metadata(recording.metadata));
  return sink.bytes_;
}

void save(const std::string& path, std::span<const std::byte> bytes) {
  std::ofstream file(path, std::ios::binary);
  file.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!file.flush()) die("cannot write " + path);
}

void add_fingerprints(Recording& recording, const Kernel& kernel, WallNs wall_ns, uint64_t slide) {
  for (const char* function : {"leaf", "middle", "recursive", "idle_task", "start_kernel"}) {
    for (const int64_t offset : {0, 8}) {
      const GuestVa address = kernel.start_of(function) + offset;
      const auto bytes = kernel.image().bytes_at(address, 16);
      recording.fingerprints.push_back(
          {.wall_ns = wall_ns, .address = GuestVa{address.raw + slide}, .bytes = {bytes.begin(), bytes.end()}});
      wall_ns += 1000;
    }
  }
}

Site slid(Site site, uint64_t slide) {
  site.pc.raw += slide;
  if (site.link) site.link->raw += slide;
  for (auto& frame : site.frames) frame.raw += slide;
  return site;
}

/// Adds `weights[i]` at site i, samples 10 ms and 1000 instructions apart.
void add_chunk(Recording& recording, uint32_t vcpu, WallNs start_ns, const std::vector<Site>& sites,
               const std::vector<uint64_t>& weights) {
  capture::SampleChunk chunk{.vcpu = VcpuIndex{vcpu}, .sites = sites, .samples = {}};
  capture::VcpuLedger ledger{};
  ledger.vcpu = VcpuIndex{vcpu};
  for (uint32_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    chunk.samples.push_back(
        {.site = i, .sequence = i, .wall_ns = start_ns + i * 10000000, .insns = (i + 1) * 1000, .weight = weights[i]});
    ledger.ticks.kernel += weights[i];
    ledger.ticks.issued += weights[i];
    ++ledger.samples_taken;
    ++ledger.samples_stored;
  }
  ledger.weight_stored = ledger.ticks.kernel;
  ledger.ticks.user = 40 + vcpu;
  ledger.ticks.idle = 7;
  ledger.ticks.other_privileged = 2;
  ledger.ticks.issued += ledger.ticks.user + ledger.ticks.idle + ledger.ticks.other_privileged;
  recording.chunks.push_back(std::move(chunk));
  recording.trailer.ledger.vcpus.push_back(ledger);
}

Recording base(const Kernel& kernel) {
  Recording recording;
  capture::Header& header = recording.header;
  header.target = guest::Target::kRiscv64;
  header.mode = guest::Mode::kWall;
  header.freq_hz = 100;
  header.vcpus = 2;
  header.max_vcpus = 2;
  header.qperf_version = "0.1.0";
  header.qemu_version = "10.0.2";
  header.plugin_arguments = "freq=100,out=wall.bin";
  header.max_frames = 128;
  header.elf_path = "kernel.elf";
  header.elf_build_id.assign(kernel.image().build_id().begin(), kernel.image().build_id().end());
  recording.trailer.end_wall_ns = 1500000000;
  recording.trailer.ledger.wall_ns = 1500000000;
  return recording;
}

Recording wall(const Kernel& kernel) {
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, 0);
  const auto sites = sites_of(kernel);
  add_chunk(recording, 0, 100000000, sites, {4, 2, 1, 0, 0, 1, 0, 3, 2, 1, 1, 1});
  add_chunk(recording, 1, 105000000, sites, {1, 0, 2, 1, 2, 0, 1, 1, 0, 0, 0, 0});
  return recording;
}

/// The same address behind a call: where an exception interrupted; where that call returns to; and where it returns to although
/// the frame in between is missing, because the leaf that an exception interrupted keeps none.
void save_interrupted(const std::string& folder, const Kernel& kernel) {
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, 0);
  const GuestVa in_start = kernel.after_call("start_kernel");
  const GuestVa behind_call = kernel.start_of("interrupted");
  add_chunk(recording, 0, 100000000,
            {{.pc = kernel.start_of("leaf") + 8,
              .block_insns = 4,
              .stop = StopReason::kBottom,
              .link = std::nullopt,
              .frames = {kernel.after_call("trap_entry"), behind_call, in_start}},
             {.pc = kernel.start_of("asm_copy") + 2,
              .block_insns = 2,
              .stop = StopReason::kBottom,
              .link = std::nullopt,
              .frames = {behind_call, in_start}},
             {.pc = kernel.start_of("leaf") + 8,
              .block_insns = 4,
              .stop = StopReason::kBottom,
              .link = std::nullopt,
              .frames = {kernel.after_call("trap_entry"), kernel.start_of("ret_from_fork") + 2, behind_call, in_start}}},
            {3, 2, 4});
  save(folder + "interrupted.bin", encode(recording));
}

void save_exact(const std::string& folder, const Kernel& kernel) {
  Recording recording = base(kernel);
  recording.header.mode = guest::Mode::kExact;
  recording.header.freq_hz = 0;
  add_fingerprints(recording, kernel, 0, 0);
  recording.counts = {{kernel.start_of("leaf"), 8, 100},
                      {kernel.start_of("middle"), 5, 60},
                      {kernel.after_call("middle"), 3, 60},
                      {kModuleCode, 10, 7},
                      {kernel.start_of("leaf") + 8, 4, 1}};
  save(folder + "exact.bin", encode(recording));
  recording.trailer.ledger.blocks_without_slot = 3;
  save(folder + "exact-full.bin", encode(recording));
}

void save_slid(const std::string& folder, const Kernel& kernel) {
  constexpr uint64_t kFirst = 0x200000;
  constexpr uint64_t kSecond = 0x1230000;
  const auto sites = sites_of(kernel);
  std::vector<Site> first{slid(sites[0], kFirst), slid(sites[1], kFirst)};
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, kFirst);
  add_chunk(recording, 0, 100000000, first, {3, 2});
  save(folder + "slid.bin", encode(recording));

  // The guest reboots at 500 ms: the same chunk holds sites of both placements.
  add_fingerprints(recording, kernel, 500000000, kSecond);
  first.resize(50, first[0]);
  first.push_back(slid(sites[0], kSecond));
  first.push_back(slid(sites[8], kSecond));
  recording.chunks.clear();
  recording.trailer.ledger.vcpus.clear();
  std::vector<uint64_t> weights(52, 0);
  weights[0] = 3;
  weights[50] = 5;
  weights[51] = 1;
  add_chunk(recording, 0, 100000000, first, weights);
  save(folder + "reboot.bin", encode(recording));
}

/// A reboot that the vote cannot follow: no kernel is slid by that much.
void save_moved(const std::string& folder, const Kernel& kernel) {
  constexpr uint64_t kFirst = 0x200000;
  constexpr uint64_t kUnheardOf = 0x1230100;
  const auto sites = sites_of(kernel);
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, kFirst);
  add_fingerprints(recording, kernel, 500000000, kUnheardOf);
  add_chunk(recording, 0, 100000000, {slid(sites[0], kFirst), slid(sites[0], kUnheardOf)}, {8, 1});
  save(folder + "moved.bin", encode(recording));
}

/// Half of the samples between user mode and the kernel, in a page that is mapped outside of the kernel's text.
void save_trampolines(const std::string& folder, const Kernel& kernel) {
  auto sites = sites_of(kernel);
  sites.resize(1);
  for (const int64_t offset : {0, 0x40, 0x7c, 0x400})
    sites.push_back({.pc = GuestVa{0xfffffbfffdbf6000} + offset,
                     .block_insns = 3,
                     .stop = StopReason::kBottom,
                     .link = std::nullopt,
                     .frames = {}});
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, 0);
  add_chunk(recording, 0, 100000000, sites, {3, 1, 1, 1, 1});
  save(folder + "trampolines.bin", encode(recording));
}

/// Every block counted, and a reboot half a second later that puts the kernel onto the text that it had before.
void save_exact_reboot(const std::string& folder, const Kernel& kernel) {
  constexpr uint64_t kFirst = 0x200000;
  constexpr uint64_t kSecond = 0x210000;  // its functions lie where the code without names was
  Recording recording = base(kernel);
  recording.header.mode = guest::Mode::kExact;
  recording.header.freq_hz = 0;
  MemorySink sink;
  capture::Writer writer(sink);
  need(writer.begin(recording.header));
  add_fingerprints(recording, kernel, 0, kFirst);
  add_fingerprints(recording, kernel, 500000000, kSecond);
  need(writer.fingerprints(recording.fingerprints));
  const auto count = [](GuestVa address, uint64_t slide, uint64_t executions) {
    return capture::BlockCount{GuestVa{address.raw + slide}, 2, executions};
  };
  need(writer.counts(std::vector{count(kNameless, kFirst, 50), count(kernel.start_of("middle"), kFirst, 10)}));
  recording.trailer.ledger.wall_ns = 600000000;
  need(writer.ledger(recording.trailer.ledger));
  need(writer.counts(std::vector{count(kernel.start_of("leaf") + 4, kSecond, 70), count(kernel.start_of("middle"), kSecond, 20)}));
  recording.trailer.ledger.wall_ns = recording.trailer.end_wall_ns;
  need(writer.finish(recording.trailer));
  save(folder + "exact-reboot.bin", sink.bytes_);
}

/// Functions in two parts and of more than 64 KiB; without a compiler for it there is no such ELF.
void save_split(const std::string& folder) {
  if (!std::ifstream(folder + "split.elf")) return;
  const Kernel kernel(folder + "split.elf");
  Recording recording = base(kernel);
  recording.header.target = guest::Target::kX86_64;
  recording.header.elf_path = "split.elf";
  std::vector<Site> sites;
  const auto add_site = [&](const char* function, int64_t offset) {
    sites.push_back({.pc = kernel.start_of(function) + offset, .block_insns = 2, .stop = StopReason::kBottom, .link = std::nullopt, .frames = {}});
  };
  add_site("in_two_parts", 0);
  add_site("in_two_parts.cold", 0);
  add_site("in_two_parts", 1);  // inside of an instruction
  add_site("between", 0);
  add_site("large", 0);
  add_site("far_block", 0);
  add_chunk(recording, 0, 100000000, sites, {4, 3, 1, 9, 5, 6});
  save(folder + "split.bin", encode(recording));
}

void save_icount(const std::string& folder, const Kernel& kernel) {
  Recording recording = wall(kernel);
  recording.header.mode = guest::Mode::kIcount;
  recording.header.freq_hz = 0;
  recording.header.period_insns = 1000;
  recording.header.plugin_arguments = "mode=icount,period=1000,out=icount.bin";
  for (auto& vcpu : recording.trailer.ledger.vcpus) vcpu.ticks = {};
  save(folder + "icount.bin", encode(recording));
  recording.header.period_insns = 250;
  recording.header.jitter_percent = 10;
  recording.header.plugin_arguments = "mode=icount,period=250,jitter=10,out=icount.bin";
  save(folder + "icount-fine.bin", encode(recording));
}

void save_compared(const std::string& folder, const Kernel& kernel) {
  const auto sites = sites_of(kernel);
  Recording recording = base(kernel);
  add_fingerprints(recording, kernel, 0, 0);
  add_chunk(recording, 0, 100000000, sites, {6, 0, 1, 0, 0, 0, 0, 0, 5});
  recording.header.plugin_arguments = "freq=100,out=old.bin";
  save(folder + "old.bin", encode(recording));
  recording.header.plugin_arguments = "out=/old,,bin,max_frames=128";
  save(folder + "old-spelled.bin", encode(recording));
  recording.header.freq_hz = 300;
  recording.header.vcpus = 4;
  recording.header.plugin_arguments = "freq=300,out=old.bin";
  save(folder + "old-fast.bin", encode(recording));
}

void save_weak(const std::string& folder, const Kernel& kernel) {
  const auto sites = sites_of(kernel);
  Recording recording = base(kernel);
  recording.header.idle_known = false;
  add_fingerprints(recording, kernel, 0, 0);
  add_chunk(recording, 0, 0, sites, {1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5});
  auto& ledger = recording.trailer.ledger.vcpus[0];
  ledger.samples_taken += 30;
  ledger.dropped_queue_full = 20;
  ledger.dropped_writer = 10;
  ledger.ticks.lost = 30;
  ledger.ticks.issued += 30;
  recording.trailer.ledger.stopped_ns = 250000000;
  recording.trailer.reason = capture::EndReason::kWriteError;
  recording.chunks.push_back(recording.chunks.front());
  for (auto& sample : recording.chunks.back().samples) sample.site = 11;
  save(folder + "weak.bin", encode(recording));
  recording.header.kernel_range = {GuestVa{0xffffffff80000000}, GuestVa{0xffffffff8fffffff}};
  save(folder + "weak-range.bin", encode(recording));
}

/// Half of the ticks are further ones of a sample; and a quarter, which is not yet told.
void save_late(const std::string& folder, const Kernel& kernel) {
  const std::vector<Site> sites(240, sites_of(kernel).front());
  std::vector<uint64_t> weights(sites.size(), 1);
  Recording few = base(kernel);
  std::fill_n(weights.begin(), 80, 2);
  add_chunk(few, 0, 0, sites, weights);
  save(folder + "late-few.bin", encode(few));
  Recording late = base(kernel);
  std::fill_n(weights.begin(), 80, 4);
  add_chunk(late, 0, 0, sites, weights);
  save(folder + "late.bin", encode(late));
}

void save_odd_ones(const std::string& folder, const Kernel& kernel) {
  Recording recording = wall(kernel);
  recording.chunks.clear();
  save(folder + "no-samples.bin", encode(recording));
  recording = wall(kernel);
  recording.header.elf_path.clear();
  save(folder + "no-elf.bin", encode(recording));
  recording.metadata["kernel.elf_path"] = std::string("kernel.elf");
  save(folder + "elf-added-later.bin", encode(recording));
  recording = wall(kernel);
  recording.header.elf_build_id.assign(20, std::byte{0x11});
  save(folder + "rebuilt-elf.bin", encode(recording));
  // A kernel that patches its text: two of ten differ.
  for (const size_t i : {3U, 7U}) recording.fingerprints[i].bytes[0] ^= std::byte{0x55};
  save(folder + "rebuilt-elf-patched.bin", encode(recording));
  recording = wall(kernel);
  recording.header.elf_path = "gone.elf";
  save(folder + "gone-elf.bin", encode(recording));
  recording = wall(kernel);
  recording.fingerprints.resize(2);
  save(folder + "few-fingerprints.bin", encode(recording));

  size_t end_of_samples = 0;
  const auto whole = encode(wall(kernel), &end_of_samples);
  save(folder + "cut.bin", std::span(whole).first(whole.size() - 40));
  auto damaged = whole;
  damaged[end_of_samples - 3] ^= std::byte{0x55};
  save(folder + "damaged.bin", damaged);
}

void put_bincode(ByteWriter& out, uint64_t value) {
  if (value < 251) {
    out.u8(static_cast<uint8_t>(value));
  } else if (value <= 0xffff) {
    out.u8(251);
    out.u16(static_cast<uint16_t>(value));
  } else if (value <= 0xffffffff) {
    out.u8(252);
    out.u32(static_cast<uint32_t>(value));
  } else {
    out.u8(253);
    out.u64(value);
  }
}

void save_legacy(const std::string& folder, const Kernel& kernel) {
  ByteWriter out;
  out.text(std::string_view("QPERF\0\x01", 7));
  const auto sites = sites_of(kernel);
  uint32_t vcpu = 0;
  for (const size_t i : {0U, 0U, 5U, 7U}) {
    put_bincode(out, vcpu++ / 2);
    put_bincode(out, sites[i].frames.size() + 2);
    put_bincode(out, sites[i].pc.raw);
    for (const GuestVa frame : sites[i].frames) put_bincode(out, frame.raw);
    put_bincode(out, 0);  // that recorder's "nothing"
  }
  put_bincode(out, 0);
  put_bincode(out, 1);
  put_bincode(out, 0);  // a record of no address
  save(folder + "legacy.bin", out.view());
  put_bincode(out, 0);
  put_bincode(out, 9);
  put_bincode(out, sites[0].pc.raw);
  save(folder + "legacy-cut.bin", out.view());
}

void run(const std::string& folder) {
  const Kernel kernel(folder + "kernel.elf");
  save_exact(folder, kernel);
  save_interrupted(folder, kernel);
  save_exact_reboot(folder, kernel);
  save_slid(folder, kernel);
  save_moved(folder, kernel);
  save_trampolines(folder, kernel);
  save_split(folder);
  save_icount(folder, kernel);
  save_compared(folder, kernel);
  save_weak(folder, kernel);
  save_late(folder, kernel);
  save_odd_ones(folder, kernel);
  save_legacy(folder, kernel);
  save(folder + "wall.bin", encode(wall(kernel)));
}

}  // namespace
}  // namespace qperf

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  qperf::run(std::string(argv[1]) + "/");
  return 0;
}
