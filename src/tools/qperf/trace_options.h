#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "qemutrace/filter.h"
#include "qemutrace/source.h"
#include "tools/progress/progress_line.h"
#include "tools/qperf/command.h"

namespace qperf::tools {

/// What the command line of a `qperf trace` job may say; trace_command.cpp adds the options that a job has.
struct TraceOptions {
  std::string file;
  std::string events_path;
  std::string ids = "detect";
  bool follow = false;
  bool json = false;
  std::vector<std::string> events;
  std::string from;
  std::string until;
  std::string where;
  bool pretty = false;          // print
  std::string field;            // hist
  std::vector<std::string> by;  // io
  std::string perfetto;         // io: file to write a timeline to
  std::string open_longer;      // leaks
  std::string device;           // overlaps
  std::optional<uint64_t> sector;
  std::optional<uint64_t> sector_count;
  std::string query;               // sql
  std::string output;              // export
  std::string qmp;                 // control
  std::string hmp;                 // control
  std::string virsh;               // control
  std::vector<std::string> words;  // control: what to do
  size_t top = 0;                  // mmio, locks: rows to show, 0 for all
  std::string capture;             // waits, mmio: of the same run
  std::vector<std::string> elfs;   // waits, mmio
  std::string within = "50us";     // mmio: how far the nearest sample may be
  bool each = false;               // waits: list every one
  std::string guest_blkparse;      // blkparse
  std::string host_blkparse;
  int64_t host_offset = 0;
};

/// An open trace with the filter that the options ask for.
struct OpenTrace {
  std::unique_ptr<ProgressLine> progress;  // told by the trace's reader; nullptr: none
  qemutrace::Trace trace;
  qemutrace::Filter filter;
  [[nodiscard]] qemutrace::EventSource& source() const { return *trace.source; }
  /// Takes the line of progress away: call it after the last event, before anything is printed.
  void all_read() const {
    if (progress) progress->clear();
  }
};

/// Where output appears on a terminal while the trace is read, a line of progress would be drawn into it.
enum class OutputComes : uint8_t { kAtEnd, kMeanwhile };

/// Opens the trace; `on_wait` is called while a live trace is silent. Ends live reading on SIGINT and SIGTERM. A trace that is not
/// followed shows on stderr how far it is read.
Result<OpenTrace> open(const TraceOptions& options, std::function<void()> on_wait = {}, OutputComes output = OutputComes::kAtEnd);

/// Says on stderr what was lost, torn or unreadable; returns kDone or kIncomplete.
int conclude(const qemutrace::ReadReport& report);

/// The jobs of `qperf trace`.
int trace_print(const TraceOptions& options);
int trace_stat(const TraceOptions& options);
int trace_hist(const TraceOptions& options);
int trace_io(const TraceOptions& options);
int trace_leaks(const TraceOptions& options);
int trace_overlaps(const TraceOptions& options);
int trace_mmio(const TraceOptions& options);
int trace_mmio_callers(const TraceOptions& options);  // with --capture
int trace_blkparse(const TraceOptions& options);
int trace_waits(const TraceOptions& options);
int trace_locks(const TraceOptions& options);
int trace_sql(const TraceOptions& options);
int trace_export(const TraceOptions& options);
int trace_control(const TraceOptions& options);

}  // namespace qperf::tools
