#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <random>
#include <string>
#include <vector>

#include "base/result.h"
#include "bench/event_stream.h"
#include "capture/writer.h"
#include "symbols/image.h"

/// analyzer_capture ELF OUT SAMPLES STACKS VCPUS [EVENTS]: a wall capture of a guest that runs ELF, for measuring the reader: SAMPLES
/// samples over STACKS distinct stacks of 4 to 20 frames, popular ones much more often than rare ones, as real profiles are.
/// Addresses are real return addresses of the ELF. EVENTS trace events of 64 tasks per vCPU are spread over the same time. The same
/// arguments give the same bytes.
namespace qperf {
namespace {

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "analyzer_capture: %s\n", message.c_str());
  std::exit(1);
}

class FileSink final : public capture::ByteSink {
 public:
  explicit FileSink(const char* path) : file_(std::fopen(path, "wb")) {
    if (file_ == nullptr) die(std::string(path) + ": cannot be written");
  }
  FileSink(const FileSink&) = delete;
  FileSink& operator=(const FileSink&) = delete;
  ~FileSink() override { std::fclose(file_); }
  Result<void> write(std::span<const std::byte> bytes) override {
    if (std::fwrite(bytes.data(), 1, bytes.size(), file_) != bytes.size()) return Error{ErrorCode::kIo, "cannot write"};
    return {};
  }

 private:
  std::FILE* file_;
};

void need(const Result<void>& result) {
  if (!result) die(result.error().message);
}

/// `count` addresses that follow a call, spread over the image's text.
std::vector<GuestVa> return_addresses(const symbols::Image& image, size_t count, std::mt19937_64& random) {
  std::vector<GuestVa> found;
  const auto ranges = image.text_ranges();
  for (uint64_t tries = 0; found.size() < count && tries < count * 1000; ++tries) {
    const GuestRange& range = ranges[random() % ranges.size()];
    const GuestVa address{range.first.raw + random() % (range.last.raw - range.first.raw + 1) / 4 * 4};
    if (image.follows_call(address)) found.push_back(address);
  }
  if (found.empty()) die("no call sites in the ELF");
  return found;
}

constexpr uint64_t kSampleGapNs = 10000000;

void run(const char* elf, const char* path, uint64_t samples, uint64_t stacks, uint32_t vcpus, uint64_t events) {
  auto image = symbols::Image::open(elf);
  if (!image) die(image.error().message);
  std::mt19937_64 random(42);
  const auto addresses = return_addresses(*image, 20000, random);
  std::vector<capture::Site> sites(stacks);
  for (auto& site : sites) {
    // Shared roots, as stacks have: the outer frames come from few addresses.
    const size_t depth = 4 + random() % 17;
    site.pc = addresses[random() % addresses.size()];
    site.block_insns = 4;
    site.link = addresses[random() % addresses.size()];
    for (size_t i = 0; i < depth; ++i) site.frames.push_back(addresses[random() % (i + 4 > depth ? 50 : addresses.size())]);
  }
  FileSink sink(path);
  capture::Writer writer(sink);
  capture::Header header;
  header.target = image->target().value_or(guest::Target::kRiscv64);
  header.mode = guest::Mode::kWall;
  header.freq_hz = 99;
  header.vcpus = vcpus;
  need(writer.begin(header));
  constexpr uint64_t kSamplesPerChunk = 4096;
  std::vector<uint32_t> chunk_index(stacks);
  std::vector<uint64_t> in_chunk(stacks, 0);  // number of the last chunk that has the site
  uint64_t chunks = 0;
  std::vector<bench::EventStream> streams;
  for (uint32_t i = 0; events != 0 && i < vcpus; ++i) streams.emplace_back(i, addresses);
  const uint64_t event_gap_ns = events == 0 ? 0 : samples * kSampleGapNs / (events / vcpus + 1);
  for (uint64_t written = 0; written < samples;) {
    ++chunks;
    capture::SampleChunk chunk;
    chunk.vcpu = VcpuIndex{static_cast<uint32_t>(chunks % vcpus)};
    bench::EventStream* const stream = streams.empty() ? nullptr : &streams[chunk.vcpu.raw];
    for (uint64_t i = 0; i < kSamplesPerChunk && written < samples; ++i, ++written) {
      const WallNs wall_ns = written * kSampleGapNs;
      if (stream != nullptr) {
        while (stream->now_ns() < wall_ns) stream->turn(event_gap_ns);
      }
      // The product of two uniform numbers favours the low ones. A task has a tenth of all stacks, which others share in part.
      const uint64_t own = stream == nullptr ? stacks : std::max<uint64_t>(stacks / 10, 1);
      const uint64_t first = stream == nullptr ? 0 : stream->running().raw * (stacks / 64);
      const uint64_t pick = (first + (random() % own) * (random() % own) / own) % stacks;
      if (in_chunk[pick] != chunks) {
        in_chunk[pick] = chunks;
        chunk_index[pick] = static_cast<uint32_t>(chunk.sites.size());
        chunk.sites.push_back(sites[pick]);
      }
      capture::Sample sample;
      sample.site = chunk_index[pick];
      sample.sequence = (chunks - 1) / vcpus * kSamplesPerChunk + i;
      sample.wall_ns = wall_ns;
      sample.insns = written * 50000;
      sample.weight = 1;
      if (stream != nullptr) sample.task = stream->running();
      chunk.samples.push_back(sample);
    }
    need(writer.samples(chunk));
    if (stream == nullptr || stream->chunk.events.empty()) continue;
    need(writer.events(stream->chunk));
    stream->written();
  }
  capture::Trailer trailer;
  trailer.end_wall_ns = samples * kSampleGapNs;
  need(writer.finish(trailer));
}

}  // namespace
}  // namespace qperf

int main(int argc, char** argv) {
  if (argc != 6 && argc != 7) {
    std::fprintf(stderr, "usage: analyzer_capture ELF OUT SAMPLES STACKS VCPUS [EVENTS]\n");
    return 2;
  }
  const auto number = [&](int i) { return std::strtoull(argv[i], nullptr, 10); };
  if (number(3) == 0 || number(4) == 0 || number(5) == 0 || number(5) > 4096) return 2;
  qperf::run(argv[1], argv[2], number(3), number(4), static_cast<uint32_t>(number(5)), argc == 7 ? number(6) : 0);
  return 0;
}
