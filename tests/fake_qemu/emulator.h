#pragma once

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "capture/reader.h"

namespace fake_qemu {

/// A guest's code as far as the plugin can see it: blocks of instructions with addresses.
struct BlockKey {
  uint64_t pc;
  size_t insns;
  auto operator<=>(const BlockKey&) const = default;
};

/// What the emulator offers to a plugin and does with it. One at a time: the plugin calls free functions.
class Emulator {
 public:
  struct Machine {
    std::string target = "riscv64";
    bool system = true;
    int vcpus = 1;
    int max_vcpus = 0;  // 0: as many as vcpus
    std::set<unsigned> lack_frame_pointer = {};  // vCPUs
    std::chrono::milliseconds move_time{0};  // how long it takes to move the scoreboards
  };

  static constexpr uint64_t kKernelPc = 0xffffffff80000000;
  static constexpr uint64_t kUserPc = 0x10000;
  static constexpr uint64_t kStackPage = 0xffffffd000001000;

  explicit Emulator(Machine machine);
  ~Emulator();
  Emulator(const Emulator&) = delete;
  Emulator& operator=(const Emulator&) = delete;

  /// Loads the plugin; true if it agreed. What it wrote to stderr is in `said`.
  bool install(const std::vector<std::string>& arguments);
  /// The vCPU's init event, on the calling thread. Moves the scoreboards before if they have no room for the vCPU.
  void init_vcpu(unsigned vcpu);
  /// How often the plugin looked up or wrote a scoreboard while it moved, or wrote where it had been.
  uint64_t wrong_accesses();
  /// Translates where necessary and executes. Only the vCPU's own thread.
  void run(unsigned vcpu, uint64_t pc, size_t insns = 10);
  void translate(uint64_t pc, size_t insns);
  void idle(unsigned vcpu);
  void resume(unsigned vcpu);
  /// The exit event; what the plugin wrote to stderr since the installation is in `said`.
  void exit();

  std::string said;
  uint64_t privilege = 0;       // register `priv`
  std::array<uint64_t, 6> argument_registers{};  // a0 .. a5
  uint64_t text_change = 0;     // changes the instruction bytes of what is translated next
};

/// A capture file, read whole.
struct Recording {
  qperf::capture::Summary summary;
  std::vector<qperf::capture::Sample> samples;
  std::vector<qperf::capture::Site> sites;  // of each sample, same order
  std::vector<qperf::capture::EventChunk> events;
  std::vector<qperf::capture::BlockCount> counts;
  std::vector<qperf::capture::Fingerprint> fingerprints;
  uint64_t ledgers = 0;
};
Recording read_recording(const std::string& path);

uint64_t sum_of_buckets(const qperf::capture::Ticks& ticks);
std::string temporary_path(const std::string& name);

/// Allocations of the calling thread since its start, by malloc, calloc, realloc or new.
uint64_t allocations_of_this_thread();

}  // namespace fake_qemu
