#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <unordered_map>
#include <vector>

#include "capture/records.h"
#include "sampling/vcpu.h"

namespace qperf::sampling {

/// Collects one vCPU's queued samples into a chunk in which equal sites are stored once. Writer thread.
class ChunkBuilder {
 public:
  explicit ChunkBuilder(VcpuIndex vcpu) { chunk_.vcpu = vcpu; }

  void add(const SampleSlot& slot);

  [[nodiscard]] const capture::SampleChunk& chunk() const noexcept { return chunk_; }
  [[nodiscard]] bool empty() const noexcept { return chunk_.samples.empty(); }
  /// Time to write it, long before a bound of the format is reached.
  [[nodiscard]] bool is_large() const noexcept {
    return frames_ >= kLargeFrames || chunk_.samples.size() >= kLargeSamples;
  }
  void clear();

 private:
  static constexpr size_t kLargeFrames = size_t{1} << 17;  // 1 MiB of addresses
  static constexpr size_t kLargeSamples = size_t{1} << 16;

  uint32_t intern(const SampleSlot& slot);

  capture::SampleChunk chunk_;
  std::unordered_multimap<uint64_t, uint32_t> sites_by_hash_;
  size_t frames_ = 0;  // in chunk_.sites
};

}  // namespace qperf::sampling
