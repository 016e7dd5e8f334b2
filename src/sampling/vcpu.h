#pragma once

#include <atomic>
#include <cstdint>
#include <new>
#include <span>

#include "base/types.h"
#include "capture/records.h"
#include "ring/slot_ring.h"
#include "sampling/block_table.h"
#include "sampling/wide_math.h"
#include "sampling/words.h"

namespace qperf::sampling {

/// SplitMix64: enough for drawing gaps, and two vCPUs with different seeds do not move in step.
class Prng {
 public:
  explicit Prng(uint64_t seed) noexcept : state_(seed) {}

  uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15;
    uint64_t z = state_;
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

  /// Evenly from [0, below); the bias of the multiplication is below 2^-64 x below.
  uint64_t below(uint64_t below) noexcept {
    return static_cast<uint64_t>((static_cast<Uint128>(next()) * below) >> 64);
  }

 private:
  uint64_t state_;
};

/// One queued sample: this head, then `frame_count` return addresses, leaf first.
struct SampleSlot {
  uint64_t sequence;
  WallNs wall_ns;
  Insns insns;
  uint64_t weight;
  TaskId task;
  const Block* block;
  GuestVa link;
  uint32_t frame_count;
  capture::StopReason stop;
  bool has_link;
  uint8_t zero[2];

  [[nodiscard]] static size_t size_bytes(size_t max_frames) noexcept {
    return sizeof(SampleSlot) + max_frames * sizeof(GuestVa);
  }
  [[nodiscard]] GuestVa* frames() noexcept { return reinterpret_cast<GuestVa*>(this + 1); }
  [[nodiscard]] std::span<const GuestVa> frames() const noexcept {
    return {reinterpret_cast<const GuestVa*>(this + 1), frame_count};
  }
};
static_assert(sizeof(SampleSlot) % alignof(GuestVa) == 0);

/// What is kept of one vCPU. Every counter has exactly one writing thread (named); all may be read at any time.
struct alignas(64) Vcpu {
  // vCPU thread.
  uint64_t next_sequence = 0;  // of samples and events
  TaskId current_task = capture::kUnknownTask;
  Prng random{0};
  std::atomic<uint64_t> insns_base{0};  // icount: added to Words::insns gives the total; wraps
  std::atomic<uint64_t> dropped_queue_full{0};
  std::atomic<uint64_t> user_ticks{0};
  std::atomic<uint64_t> idle_ticks{0};
  std::atomic<uint64_t> other_privileged_ticks{0};
  std::atomic<uint64_t> taken_shared_ticks{0};  // one-thread TCG only: issued, as counted by the vCPU that took them
  std::atomic<bool> in_callback{false};         // see Sampler::quiesce()
  std::atomic<bool> idle{false};

  ring::SlotRing samples;

  // Timer thread.
  alignas(64) std::atomic<uint64_t> issued_ticks{0};
  std::atomic<uint64_t> idle_ticks_by_timer{0};
  std::atomic<uint64_t> unknown_idle_ticks{0};  // one-thread TCG only, of the first vCPU: issued and in their bucket at once

  // The thread that initialises or removes the vCPU.
  std::atomic<bool> online{false};
  std::atomic<bool> ever_online{false};
};

}  // namespace qperf::sampling
