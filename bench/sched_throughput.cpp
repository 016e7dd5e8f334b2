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

#include "bench/event_stream.h"
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
constexpr size_t kEventsPerFlush = 100'000;
constexpr uint64_t kGapNs = 550;

class MemorySink final : public capture::ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    all.insert(all.end(), bytes.begin(), bytes.end());
    return {};
  }
  std::vector<std::byte> all;
};

std::vector<std::byte> make_capture(uint64_t events) {
  MemorySink sink;
  capture::Writer writer(sink);
  capture::Header header;
  header.freq_hz = 99;
  header.vcpus = header.max_vcpus = kVcpus;
  header.qperf_version = "0";
  bool ok = writer.begin(header).ok();
  std::vector<GuestVa> places;
  for (uint64_t i = 0; i < 18; ++i) places.push_back(GuestVa{0xffffffff80001000 + i * 16});
  std::vector<bench::EventStream> vcpus;
  for (uint32_t i = 0; i < kVcpus; ++i) vcpus.emplace_back(i, places);
  for (uint64_t made = 0; made < events && ok;) {
    for (bench::EventStream& vcpu : vcpus) {
      while (vcpu.chunk.events.size() < kEventsPerFlush) vcpu.turn(kGapNs);
      made += vcpu.chunk.events.size();
      ok = ok && writer.events(vcpu.chunk).ok();
      vcpu.written();
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
