#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "foreign/host_sample.h"

namespace qperf::foreign {

/// Reads the text of `perf script`, with any of -F's fields comm, pid, tid, cpu, time, period, event, ip, sym, symoff, dso: a head line
/// "comm pid/tid [cpu] seconds.fraction: period event:", then one indented line a frame, leaf first, then an empty line; or all in
/// one line where no stacks were recorded. Comments (#) are passed over.
class PerfScriptReader {
 public:
  explicit PerfScriptReader(SampleSink& sink) : sink_(sink) {}

  [[nodiscard]] Result<void> line(std::string_view line, bool cut);
  [[nodiscard]] Result<void> finish();
  [[nodiscard]] const ReadCounts& counts() const noexcept { return counts_; }

  /// What a head line says; nullopt: it is none. `rest` is what stands behind the event's name: a frame, or nothing.
  struct Head {
    std::string_view thread;
    uint64_t pid = 0;
    uint64_t tid = 0;
    std::optional<uint32_t> cpu;
    uint64_t time_ns = 0;
    std::string_view rest;
  };
  [[nodiscard]] static std::optional<Head> parse_head(std::string_view line);

 private:
  struct OwnedFrame {
    std::string function;
    std::string module;
  };

  void add_frame(std::string_view text);
  Result<void> flush();

  SampleSink& sink_;
  ReadCounts counts_;
  uint64_t lines_ = 0;
  bool open_ = false;
  bool too_deep_ = false;
  std::string thread_;
  Head head_;  // its views are not used
  std::vector<OwnedFrame> frames_;
  size_t frame_count_ = 0;  // of frames_, whose strings are reused
};

}  // namespace qperf::foreign
