#include <benchmark/benchmark.h>

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <random>
#include <span>
#include <vector>

#include "capture/reader.h"
#include "capture/writer.h"

/// Encoding and decoding of samples, one core. Items are samples; look at items per second of CPU time.
/// Argument: distinct sites in a chunk of 4096 samples. A periodic workload has few, a busy kernel about one for every four.
namespace qperf::capture {
namespace {

constexpr size_t kChunks = 64;
constexpr size_t kSamplesPerChunk = 4096;

class VectorSink final : public ByteSink {
 public:
  Result<void> write(std::span<const std::byte> bytes) override {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
    return {};
  }
  [[nodiscard]] std::span<const std::byte> bytes() const { return bytes_; }
  void clear() { bytes_.clear(); }

 private:
  std::vector<std::byte> bytes_;
};

/// Addresses of a 16 MiB kernel text, stacks of 4 to 20 frames out of 2000 call sites.
std::vector<SampleChunk> make_chunks(size_t sites) {
  std::mt19937_64 random(1);
  const auto text_address = [&] { return GuestVa{0xffffffff81000000 + random() % (16 << 20)}; };
  std::vector<GuestVa> call_sites(2000);
  for (GuestVa& site : call_sites) site = text_address();
  std::vector<SampleChunk> chunks(kChunks);
  uint64_t sequence = 0;
  uint64_t wall_ns = 0;
  uint64_t insns = 0;
  for (SampleChunk& chunk : chunks) {
    for (size_t i = 0; i < sites; ++i) {
      Site site{
          .pc = text_address(), .block_insns = static_cast<uint32_t>(1 + random() % 12), .stop = {}, .link = {}, .frames = {}};
      site.link = call_sites[random() % call_sites.size()];
      for (size_t frames = 4 + random() % 17; frames > 0; --frames)
        site.frames.push_back(call_sites[random() % call_sites.size()]);
      chunk.sites.push_back(std::move(site));
    }
    for (size_t i = 0; i < kSamplesPerChunk; ++i) {
      wall_ns += 10'000'000 + random() % 100'000;
      insns += 1'000'000 + random() % 50'000;
      chunk.samples.push_back({.site = static_cast<uint32_t>(i < sites ? i : random() % sites),
                               .sequence = sequence++,
                               .wall_ns = wall_ns,
                               .insns = insns,
                               .weight = 1,
                               .task = TaskId{0xffff888000000000 + random() % 40 * 0x2000}});
    }
  }
  return chunks;
}

void write_all(const std::vector<SampleChunk>& chunks, ByteSink& sink) {
  Writer writer(sink);
  Header header;
  header.freq_hz = 99;
  bool written = writer.begin(header).ok();
  for (const SampleChunk& chunk : chunks) written = written && writer.samples(chunk);
  if (!written) std::abort();
}

void encode(benchmark::State& state) {
  const auto chunks = make_chunks(static_cast<size_t>(state.range(0)));
  VectorSink sink;
  for (auto _ : state) {
    sink.clear();
    write_all(chunks, sink);
  }
  state.SetItemsProcessed(static_cast<int64_t>(state.iterations() * kChunks * kSamplesPerChunk));
  state.counters["bytes_per_sample"] = static_cast<double>(sink.bytes().size()) / (kChunks * kSamplesPerChunk);
}

void decode_file(benchmark::State& state) {
  const auto chunks = make_chunks(static_cast<size_t>(state.range(0)));
  VectorSink sink;
  write_all(chunks, sink);
  const std::string path = (std::filesystem::temp_directory_path() / "qperf-capture-bench.qperf").string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(sink.bytes().data()), static_cast<std::streamsize>(sink.bytes().size()));
  uint64_t samples = 0;
  uint64_t weight = 0;
  Handlers handlers;
  handlers.samples = [&](const SampleChunk& chunk) {
    samples += chunk.samples.size();
    for (const Sample& sample : chunk.samples) weight += sample.weight;
    return Result<void>();
  };
  for (auto _ : state) {
    if (!read_capture(path, handlers)) state.SkipWithError("the capture cannot be read");
  }
  benchmark::DoNotOptimize(weight);
  state.SetItemsProcessed(static_cast<int64_t>(samples));
  std::filesystem::remove(path);
}

BENCHMARK(encode)->Arg(16)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);
BENCHMARK(decode_file)->Arg(16)->Arg(1024)->Arg(4096)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace qperf::capture

BENCHMARK_MAIN();
