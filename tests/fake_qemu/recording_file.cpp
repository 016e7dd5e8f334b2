#include <gtest/gtest.h>
#include <unistd.h>

#include "emulator.h"

namespace fake_qemu {

Recording read_recording(const std::string& path) {
  Recording recording;
  qperf::capture::Handlers handlers;
  handlers.samples = [&](const qperf::capture::SampleChunk& chunk) -> qperf::Result<void> {
    for (const auto& sample : chunk.samples) {
      recording.samples.push_back(sample);
      recording.sites.push_back(chunk.sites[sample.site]);
    }
    return {};
  };
  handlers.events = [&](const qperf::capture::EventChunk& chunk) -> qperf::Result<void> {
    recording.events.push_back(chunk);
    return {};
  };
  handlers.counts = [&](std::span<const qperf::capture::BlockCount> counts) -> qperf::Result<void> {
    recording.counts.insert(recording.counts.end(), counts.begin(), counts.end());
    return {};
  };
  handlers.fingerprints = [&](std::span<const qperf::capture::Fingerprint> fingerprints) -> qperf::Result<void> {
    recording.fingerprints.insert(recording.fingerprints.end(), fingerprints.begin(), fingerprints.end());
    return {};
  };
  handlers.ledger = [&](const qperf::capture::Ledger& ledger) -> qperf::Result<void> {
    ++recording.ledgers;
    for (const auto& vcpu : ledger.vcpus) EXPECT_EQ(vcpu.ticks.issued, sum_of_buckets(vcpu.ticks));
    return {};
  };
  auto summary = qperf::capture::read_capture(path, handlers);
  EXPECT_TRUE(summary) << summary.error().message;
  if (summary) recording.summary = *std::move(summary);
  return recording;
}

uint64_t sum_of_buckets(const qperf::capture::Ticks& ticks) {
  return ticks.kernel + ticks.user + ticks.idle + ticks.other_privileged + ticks.lost + ticks.unknown_idle;
}

std::string temporary_path(const std::string& name) {
  return ::testing::TempDir() + "/qperf_api" + std::to_string(FAKE_API) + "_" + std::to_string(::getpid()) + "_" + name;
}

}  // namespace fake_qemu
