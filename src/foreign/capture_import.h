#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "base/result.h"
#include "capture/records.h"
#include "capture/writer.h"
#include "foreign/host_sample.h"

namespace qperf::foreign {

/// The rest of a longer name is left out.
inline constexpr size_t kMaxNameBytes = 2048;

struct ImportOptions {
  std::string format;  // for capture::kImportKey
  /// What the wall clock of the capture counts from, of CLOCK_MONOTONIC: the start of the capture that this one belongs beside.
  /// nullopt: the first sample's time.
  std::optional<uint64_t> start_monotonic_ns;
};

/// Writes foreign samples as a capture whose stacks are addresses of a symbol ELF. Threads become tasks (with their names, by
/// metadata events), CPUs vCPUs. Memory: one chunk for each CPU, and the functions' names.
class CaptureImport final : public SampleSink {
 public:
  CaptureImport(capture::ByteSink& sink, ImportOptions options);

  Result<void> sample(const HostSample& sample) override;

  /// For a format that is found out on the way; before the first sample.
  void set_format(std::string format) { options_.format = std::move(format); }

  /// Ends the capture. `elf_path` is recorded; returns the bytes of the file that must be there.
  Result<std::vector<std::byte>> finish(const std::string& elf_path);

  struct Counts {
    uint64_t samples = 0;
    uint64_t without_frames = 0;    // put under "[no stack]"
    uint64_t before_start = 0;      // left out: older than start_monotonic_ns
    uint64_t functions_merged = 0;  // frames of functions beyond kMaxFunctions: under "[other functions]"
    uint64_t names_cut = 0;         // frames whose name has more than kMaxNameBytes: those that begin alike are one
    uint64_t threads_unnamed = 0;   // samples of threads beyond a million: without their names
  };
  [[nodiscard]] const Counts& counts() const noexcept { return counts_; }

 private:
  struct Cpu {
    capture::SampleChunk samples;
    capture::EventChunk events;
    std::map<std::vector<GuestVa>, uint32_t> sites;  // by the whole stack
    size_t frames = 0;                               // of all sites
    uint64_t sequence = 0;
    uint64_t events_stored = 0;
    WallNs last_ns = 0;
    capture::VcpuLedger ledger;
  };

  Result<void> begin(const HostSample& sample);
  void name_thread(Cpu& cpu, const HostSample& sample, WallNs wall_ns);
  GuestVa address_of(const HostFrame& frame);
  uint32_t site_of(Cpu& cpu, const HostSample& sample);
  Result<void> flush(Cpu& cpu);

  capture::Writer writer_;
  ImportOptions options_;
  Counts counts_;
  bool begun_ = false;
  uint64_t start_ns_ = 0;
  WallNs end_ns_ = 0;
  std::map<uint32_t, Cpu> cpus_;
  std::map<uint64_t, std::string> threads_;  // the last name of each
  std::vector<std::string> names_;           // of functions
  std::unordered_map<std::string, uint32_t> functions_;
  std::string name_;              // reused
  std::vector<GuestVa> stack_;    // reused
};

}  // namespace qperf::foreign
