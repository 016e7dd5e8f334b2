#include <fmt/core.h>
#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "capture/reader.h"
#include "capture/writer.h"
#include "sched/replay.h"
#include "sched/report_json.h"
#include "sched/survey.h"

/// sched_throughput [EVENTS]: makes a capture file of that many trace events (10 million) on four vCPUs and analyses it: both
/// readings, statistics, off-CPU lines and JSON. Goal: under 3 s, memory that does not grow with events.
namespace qperf {
namespace {

constexpr uint32_t kVcpus = 4;
constexpr uint64_t kTasksPerVcpu = 64;
constexpr size_t kEventsPerFlush = 100'000;

class MemorySink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> all;
};

/// One vCPU whose tasks take turns: block, switch, wake, enqueue of another.
class Vcpu {
 public:
  explicit Vcpu(uint32_t index) : index_(index), sequences_(kTasksPerVcpu) {
    chunk.vcpu = VcpuIndex{index};
    for (uint64_t depth = 0; depth < 16; ++depth)
      chunk.stacks.push_back({GuestVa{0xffffffff80001000 + depth * 16}, GuestVa{0xffffffff80002000}, GuestVa{0xffffffff80003000}});
  }
  void turn() {
    const uint64_t from = running_;
    const uint64_t to = (running_ + 1) % kTasksPerVcpu;
    add(guest::trace_kind::kBlock, {id(from), ++sequences_[from], 1 + from % 17, 0xffffffd000000000 + from % 8 * 64}, static_cast<uint32_t>(from % 16));
    add(guest::trace_kind::kWake, {id(to), sequences_[to], id(from), 1});
    add(guest::trace_kind::kEnqueue, {id(to), index_, index_, from % 4, guest::enqueue_reason::kWake});
    add(guest::trace_kind::kSwitch, {id(from), id(to), guest::task_state::kBlocked});
    running_ = to;
  }
  capture::EventChunk chunk;

 private:
  [[nodiscard]] uint64_t id(uint64_t task) const { return 1 + index_ * kTasksPerVcpu + task; }
  void add(uint64_t kind, std::array<uint64_t, 5> args, uint32_t stack = capture::kNoEventStack) {
    now_ += 400 + sequence_ * 7919 % 300;
    chunk.events.push_back({.sequence = sequence_, .wall_ns = now_, .insns = now_ / 2, .kind = kind, .args = args, .stack = stack});
    ++sequence_;
  }

  uint32_t index_;
  std::vector<uint64_t> sequences_;
  uint64_t running_ = 0;
  uint64_t sequence_ = 0;
  WallNs now_ = 0;
};

std::vector<std::byte> make_capture(uint64_t events) {
  MemorySink sink;
  capture::Writer writer(sink);
  capture::Header header;
  header.freq_hz = 99;
  header.vcpus = header.max_vcpus = kVcpus;
  header.qperf_version = "0";
  bool ok = writer.begin(header).ok();
  std::vector<Vcpu> vcpus;
  for (uint32_t i = 0; i < kVcpus; ++i) vcpus.emplace_back(i);
  for (uint64_t made = 0; made < events && ok;) {
    for (Vcpu& vcpu : vcpus) {
      while (vcpu.chunk.events.size() < kEventsPerFlush) vcpu.turn();
      made += vcpu.chunk.events.size();
      ok = ok && writer.events(vcpu.chunk).ok();
      vcpu.chunk.stored_before += vcpu.chunk.events.size();
      vcpu.chunk.events.clear();
    }
  }
  if (!ok || !writer.finish(capture::Trailer{}).ok()) std::exit(1);
  return std::move(sink.all);
}

/// The size of the file.
size_t write_capture(const std::string& path, uint64_t events) {
  const auto bytes = make_capture(events);
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) std::exit(1);
  return bytes.size();
}

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double cpu_seconds() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

/// A field of /proc/self/status in KiB: VmRSS, or VmHWM, the peak.
long memory_kib(const std::string& field) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);)
    if (line.starts_with(field + ":")) return std::strtol(line.c_str() + field.size() + 1, nullptr, 10);
  return 0;
}

/// The peak is from now on.
void reset_peak() { std::ofstream("/proc/self/clear_refs") << 5; }

template <typename OnChunk>
void read(const std::string& path, OnChunk on_chunk) {
  capture::Handlers handlers;
  handlers.events = [&](const capture::EventChunk& chunk) {
    on_chunk(chunk);
    return Result<void>();
  };
  if (!capture::read_capture(path, handlers)) std::exit(1);
}

}  // namespace
}  // namespace qperf

int main(int argc, char** argv) {
  using namespace qperf;
  const uint64_t events = argc > 1 ? std::strtoull(argv[1], nullptr, 10) : 10'000'000;
  const std::string path = (std::filesystem::temp_directory_path() / fmt::format("sched_throughput.{}", getpid())).string();
  const size_t bytes = write_capture(path, events);
  malloc_trim(0);  // what the making has left must not serve the analysis
  reset_peak();
  const long before_kib = memory_kib("VmRSS");
  const auto start = std::chrono::steady_clock::now();
  const double cpu_start = cpu_seconds();
  sched::Survey survey;
  read(path, [&](const auto& chunk) { survey.chunk(chunk); });
  survey.finish(kVcpus);
  const double surveyed = cpu_seconds() - cpu_start;
  const sched::Window window;
  sched::Replay replay(survey, window, sched::WakerSide::kAppend);
  read(path, [&](const auto& chunk) { replay.chunk(chunk); });
  replay.finish();
  sched::HexFrameNames names;
  const auto lines = replay.off_cpu_lines(nullptr, names);
  const auto json = sched::report_json(survey, window, replay, nullptr, names);
  std::printf("%llu events, %zu bytes: %.2f s wall, %.2f s CPU (survey %.2f), %zu off-CPU lines, %.1f MiB of memory\n",
              static_cast<unsigned long long>(events), bytes, seconds_since(start), cpu_seconds() - cpu_start, surveyed,
              lines.size(), static_cast<double>(memory_kib("VmHWM") - before_kib) / 1024);
  std::remove(path.c_str());
  return json.empty() ? 1 : 0;
}
