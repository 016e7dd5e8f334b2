#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "capture/header_keys.h"
#include "capture/writer.h"
#include "sched/test_support.h"
#include "symbols/image.h"

/// Writes the captures with trace events into the folder that holds the golden kernel's ELF: sched.bin, sched-lossy.bin, whose recorder
/// dropped events, reasons.bin, and disk.bin, of whose run QEMU's trace is inputs/disk.trace.log. Everything in them is fixed.
namespace qperf {
namespace {

constexpr WallNs kMs = 1'000'000;
constexpr uint64_t kReady = guest::task_state::kReady;
constexpr uint64_t kBlocked = guest::task_state::kBlocked;
constexpr uint64_t kMutex = 5;
constexpr uint64_t kSleep = 4;
constexpr uint64_t kNovel = 40;  // a wait reason of a newer kernel
constexpr uint64_t kLock = 0xffffffd000000040;

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "make_sched_capture: %s\n", message.c_str());
  std::exit(1);
}

/// Where calls of the golden kernel return to.
struct Places {
  uint64_t in_leaf_call;    // in middle
  uint64_t in_middle_call;  // in start_kernel
  uint64_t in_idle_call;    // in idle_task

  explicit Places(const std::string& path) {
    auto image = symbols::Image::open(path);
    if (!image) die(image.error().message);
    const auto after_call = [&](const char* function) {
      const auto start = image->symbol_address(function);
      for (GuestVa at = start.value_or(GuestVa{}) + 2; start && at < *start + 0x100; at = at + 2) {
        if (image->follows_call(at)) return at.raw;
      }
      die(std::string("no call in ") + function);
    };
    in_leaf_call = after_call("middle");
    in_middle_call = after_call("start_kernel");
    in_idle_call = after_call("idle_task");
  }
};

enum class Losses { kNone, kSome };
enum class Threads : uint8_t { kOnePerVcpu, kOne };
enum class Clocks : uint8_t { kZero, kRead };
/// Names that a page must show and never take for markup, a task's being 16 bytes long at most.
enum class Names { kPlain, kHostile };

sched::StreamBuilder events(const Places& places, Losses losses, Names names) {
  sched::StreamBuilder stream;
  const std::vector<uint64_t> site{places.in_leaf_call, places.in_middle_call};
  const std::vector<uint64_t> waker_site{places.in_idle_call};
  stream.metadata({0, 1 * kMs}, 1, 0, 0, "idle");
  stream.metadata({1, 1 * kMs}, 2, 0, 0, "idle");
  stream.metadata({0, 2 * kMs}, 3, 10, 10, "sh");
  stream.metadata({0, 2 * kMs + 1}, 4, 0, 0, "gc");
  stream.metadata({0, 2 * kMs + 2}, 5, 0, 0, "gc");
  stream.metadata({0, 2 * kMs + 3}, 7, 7, 7, "a;b\x1b");
  stream.enqueue({0, 3 * kMs}, 3, 0, 0, 1, guest::enqueue_reason::kSpawn);
  stream.enqueue({0, 3 * kMs + 1}, 4, 0, 1, 1, guest::enqueue_reason::kSpawn);
  stream.switch_to({1, 4 * kMs}, 2, 4, kReady);
  stream.switch_to({0, 5 * kMs}, 1, 3, kReady);
  stream.phase({0, 6 * kMs}, 1, "build");
  stream.phase({0, 7 * kMs}, 1, "load");
  // sh waits for a lock that gc holds, and is woken by it.
  stream.block({0, 10 * kMs}, 3, 1, kMutex, kLock, site);
  stream.switch_to({0, 11 * kMs}, 3, 1, kBlocked);
  stream.idle({0, 12 * kMs});
  if (losses == Losses::kSome) stream.lose(0, capture::EventClass::kSwitch, 2);
  stream.resume({0, 20 * kMs});
  stream.wake({1, 21 * kMs}, 3, 1, 4, 1, waker_site);
  stream.enqueue({1, 21 * kMs + 1000}, 3, 1, 0, 2, guest::enqueue_reason::kWake);
  stream.switch_to({0, 25 * kMs}, 1, 3, kReady);
  stream.phase({0, 26 * kMs}, 2, "load");
  stream.metadata({0, 30 * kMs}, 3, 10, 10, names == Names::kPlain ? "make" : "</script><b>\xe2\x80\xa8");
  if (names == Names::kHostile) {
    stream.metadata({0, 30 * kMs + 1}, 4, 0, 0, "<img src=x:y>");
    stream.phase({0, 30 * kMs + 2}, 1, "<!--<script>");
  }
  stream.phase({0, 31 * kMs}, 1, "load");
  // Preempted, stolen by the other CPU.
  stream.enqueue({0, 35 * kMs}, 3, 0, 0, 1, guest::enqueue_reason::kPreempt);
  stream.switch_to({0, 35 * kMs + 1000}, 3, 7, kReady);
  stream.enqueue({1, 37 * kMs}, 3, 0, 1, 3, guest::enqueue_reason::kWorkSteal);
  stream.phase({1, 38 * kMs}, 2, "load");
  stream.switch_to({1, 39 * kMs}, 4, 3, kReady);
  // Sleeps of two lengths have no resource; a reason without a name has one only if it is a kernel address.
  stream.block({0, 40 * kMs}, 7, 1, kSleep, 123456, site);
  stream.switch_to({0, 41 * kMs}, 7, 1, kBlocked);
  stream.wake({0, 50 * kMs}, 7, 1, 0, 2);
  stream.switch_to({0, 51 * kMs}, 1, 7, kReady);
  stream.block({0, 52 * kMs}, 7, 2, kNovel, 99, site);
  stream.switch_to({0, 53 * kMs}, 7, 6, kBlocked);  // 6 has no metadata
  stream.phase({1, 60 * kMs}, 2, "build");
  stream.phase({1, 61 * kMs}, 1, "open");
  stream.marker({1, 62 * kMs}, 77, {1, 2, 3, 4, 5});
  stream.block({1, 70 * kMs}, 3, 2, 13, 11, site);
  stream.switch_to({1, 71 * kMs}, 3, 2, kBlocked);
  if (losses == Losses::kSome) stream.lose(1, capture::EventClass::kWake, 3);
  stream.idle({1, 100 * kMs});
  return stream;
}

/// Two tasks that wait for a disk, as inputs/disk.trace.log has it: a read, a write with a read beside it, a read whose host events the
/// trace lacks, and a read of which it knows nothing.
sched::StreamBuilder disk_events(const Places& places) {
  constexpr uint64_t kDiskRead = 10;
  constexpr uint64_t kDiskWrite = 11;
  constexpr uint64_t kUs = 1000;
  sched::StreamBuilder stream;
  const std::vector<uint64_t> site{places.in_leaf_call, places.in_middle_call};
  stream.metadata({0, 1 * kMs}, 1, 0, 0, "idle");
  stream.metadata({0, 2 * kMs}, 3, 3, 3, "reader");
  stream.metadata({0, 2 * kMs + 1}, 4, 4, 4, "<b>writer");
  uint64_t sequence = 0;
  const auto wait = [&](uint64_t task, uint64_t reason, uint64_t sector, WallNs from_ns, WallNs to_ns, WallNs run_ns) {
    ++sequence;
    stream.marker({0, from_ns}, guest::trace_kind::kBlock, {task, sequence, reason, kLock, sector}, site);
    stream.switch_to({0, from_ns + 100 * kUs}, task, 1, kBlocked);
    stream.wake({0, to_ns}, task, sequence, 0, 1);
    stream.enqueue({0, to_ns + 1}, task, 0, 0, 1, guest::enqueue_reason::kWake);
    stream.switch_to({0, run_ns}, 1, task, kReady);
  };
  stream.switch_to({0, 5 * kMs}, 1, 3, kReady);
  wait(3, kDiskRead, 2048, 10 * kMs, 14'300 * kUs, 15 * kMs);
  stream.switch_to({0, 16 * kMs}, 3, 4, kReady);
  stream.marker({0, 20 * kMs}, guest::trace_kind::kBlock, {4, ++sequence, kDiskWrite, kLock, 4096}, site);
  stream.switch_to({0, 20'100 * kUs}, 4, 3, kBlocked);
  stream.marker({0, 22 * kMs}, guest::trace_kind::kBlock, {3, ++sequence, kDiskRead, kLock, 2056}, site);
  stream.switch_to({0, 22'150 * kUs}, 3, 1, kBlocked);
  stream.wake({0, 24'200 * kUs}, 3, sequence, 0, 1);
  stream.switch_to({0, 24'500 * kUs}, 1, 3, kReady);
  stream.wake({0, 30 * kMs}, 4, sequence - 1, 0, 1);
  wait(3, kDiskRead, 2064, 50 * kMs, 58'100 * kUs, 58'200 * kUs);
  wait(3, kDiskRead, 7777, 70 * kMs, 75 * kMs, 76 * kMs);
  stream.idle({0, 100 * kMs});
  return stream;
}

/// A task each of whose 3,000 waits has a reason of its own, which no kernel names; the later ones are longer.
sched::StreamBuilder reason_events(const Places& places) {
  constexpr uint64_t kWaits = 3000;
  sched::StreamBuilder stream;
  stream.metadata({0, 1 * kMs}, 1, 0, 0, "idle");
  stream.metadata({0, 2 * kMs}, 3, 10, 10, "sh");
  stream.switch_to({0, 4 * kMs}, 1, 3, kReady);
  WallNs at = 5 * kMs;
  for (uint64_t i = 1; i <= kWaits; ++i) {
    stream.block({0, at}, 3, i, 10'000 + i, 0, {places.in_leaf_call, places.in_middle_call});
    stream.switch_to({0, at + 10}, 3, 1, kBlocked);
    stream.wake({0, at + 10'000 + i}, 3, i);
    stream.switch_to({0, at + 11'000 + i}, 1, 3, kReady);
    at += 30'000;
  }
  return stream;
}

class FileSink final : public capture::ByteSink {
 public:
  explicit FileSink(const std::string& path) : file_(path, std::ios::binary) {}
  Result<void> write(std::span<const std::byte> bytes) override {
    file_.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
    if (!file_) return Error{ErrorCode::kIo, "cannot be written"};
    return {};
  }

 private:
  std::ofstream file_;
};

/// A sample of weight 1 each: task, time, and whether it was in middle or in idle_task.
capture::SampleChunk samples(const Places& places) {
  struct Seen {
    uint64_t task;
    WallNs wall_ns;
    uint32_t site;
  };
  constexpr uint64_t kNone = capture::kUnknownTask.raw;
  const Seen seen[] = {{kNone, 1, 1}, {3, 8 * kMs, 0}, {3, 9 * kMs, 0}, {1, 15 * kMs, 1}, {3, 28 * kMs, 0}, {3, 33 * kMs, 0},
                       {7, 36 * kMs, 0}, {6, 65 * kMs, 0}, {6, 90 * kMs, 0}};
  capture::SampleChunk chunk;
  const auto site = [&](uint64_t pc) {
    return capture::Site{.pc = GuestVa{pc}, .block_insns = 2, .stop = capture::StopReason::kBottom, .link = std::nullopt,
                         .frames = {GuestVa{places.in_middle_call}}};
  };
  chunk.sites = {site(places.in_leaf_call), site(places.in_idle_call)};
  uint64_t sequence = 1000;
  for (const Seen& one : seen)
    chunk.samples.push_back(
        {.site = one.site, .sequence = sequence++, .wall_ns = one.wall_ns, .insns = one.wall_ns / 2, .weight = 1, .task = TaskId{one.task}});
  return chunk;
}

/// The recorder's own count: what is in the chunks, and what their losses say was dropped.
void count_events(const std::vector<capture::EventChunk>& chunks, capture::VcpuLedger& ledger) {
  for (const auto& chunk : chunks) {
    if (chunk.vcpu != ledger.vcpu) continue;
    for (const auto& event : chunk.events) ++ledger.events_stored[static_cast<size_t>(capture::event_class(event.type, event.kind))];
    ledger.events_taken += chunk.events.size();
    for (const auto& loss : chunk.losses) {
      for (size_t i = 0; i < loss.counts.size(); ++i) {
        ledger.events_dropped_queue_full[i] += loss.counts[i];
        ledger.events_taken += loss.counts[i];
      }
    }
  }
}

void write(const std::string& path, const Places& places, const sched::StreamBuilder& stream, Threads threads = Threads::kOnePerVcpu,
           Names names = Names::kPlain, Clocks clocks = Clocks::kZero) {
  FileSink sink(path);
  capture::Writer writer(sink);
  capture::Header header;
  header.freq_hz = 1000;
  header.vcpus = header.max_vcpus = 2;
  header.qperf_version = "0.1.0";
  header.idle_known = threads == Threads::kOnePerVcpu;
  header.trace_address = GuestVa{places.in_leaf_call};
  if (clocks == Clocks::kRead) {
    header.start_monotonic_ns = 5'000'000'000;
    header.start_realtime_ns = 1'700'000'000'000'000'000;
  }
  if (names == Names::kHostile) {
    header.qemu_version = "</script><script>document.title='taken'</script>";
    header.qemu_command_line = "qemu <img src=x onerror=\"document.title='taken'\"> &lt;i&gt;";
    header.plugin_arguments = "]]>--><svg onload=\"document.title='taken'\">";
  }
  const auto chunks = stream.chunks(20);
  capture::Trailer trailer;
  trailer.end_wall_ns = 100 * kMs;
  if (clocks == Clocks::kRead)
    trailer.end_realtime_ns = header.start_realtime_ns + trailer.end_wall_ns + 250;  // the clocks went that far apart
  for (uint32_t i = 0; i < 2; ++i) {
    capture::VcpuLedger ledger{.vcpu = VcpuIndex{i}, .ticks = {}};
    const uint64_t stored = i == 0 ? samples(places).samples.size() : 0;
    ledger.samples_taken = ledger.samples_stored = ledger.weight_stored = stored;
    ledger.ticks.issued = ledger.ticks.kernel = stored;
    count_events(chunks, ledger);
    trailer.ledger.vcpus.push_back(ledger);
  }
  const auto check = [](const Result<void>& result) {
    if (!result) die(result.error().message);
  };
  check(writer.begin(header));
  check(writer.samples(samples(places)));
  for (const auto& chunk : chunks) check(writer.events(chunk));
  check(writer.finish(trailer));
}

}  // namespace
}  // namespace qperf

int main(int argc, char** argv) {
  if (argc != 2) return 2;
  const std::string folder = argv[1];
  const qperf::Places places(folder + "/kernel.elf");
  const auto lossless = qperf::events(places, qperf::Losses::kNone, qperf::Names::kPlain);
  qperf::write(folder + "/sched.bin", places, lossless);
  qperf::write(folder + "/sched-lossy.bin", places, qperf::events(places, qperf::Losses::kSome, qperf::Names::kPlain));
  qperf::write(folder + "/sched-one-thread.bin", places, lossless, qperf::Threads::kOne);
  qperf::write(folder + "/hostile.bin", places, qperf::events(places, qperf::Losses::kNone, qperf::Names::kHostile),
               qperf::Threads::kOnePerVcpu, qperf::Names::kHostile);
  qperf::write(folder + "/reasons.bin", places, qperf::reason_events(places));
  const std::string disk = folder + "/disk.bin";
  qperf::write(disk, places, qperf::disk_events(places), qperf::Threads::kOnePerVcpu, qperf::Names::kPlain, qperf::Clocks::kRead);
  const auto named = qperf::capture::append_metadata(
      disk.c_str(), {{std::string(qperf::capture::kTraceFileKey), "disk.trace.log"}, {std::string(qperf::capture::kTraceEventsKey), "virtio_*"}});
  if (!named) qperf::die(named.error().message);
  return 0;
}
