#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "timeline/device_trace.h"
#include "tools/profiles/device_lanes.h"
#include "tools/qperf/capture_options.h"

namespace qperf::tools {

/// QEMU's own trace of a capture's run, as typed.
struct WithTraceText {
  std::string file;    // kRecordedTrace: the one that the capture names; empty: none
  std::string events;  // trace-events-all; empty: the installed one
  [[nodiscard]] bool given() const noexcept { return !file.empty(); }
};
inline constexpr std::string_view kRecordedTrace = "auto";

/// Why a trace tells of no request.
inline constexpr std::string_view kNoRequests =
    "no virtio-blk requests: they need the events virtqueue_pop, virtqueue_fill and virtio_blk_handle_*";

/// Adds --with-trace and --events. `text` outlives `command`.
void add_with_trace_options(CLI::App& command, WithTraceText& text, const std::string& what);

/// Refuses --events alone.
[[nodiscard]] Result<void> check_with_trace(const WithTraceText& text);

/// The trace that `qperf record --trace-events` made beside this capture; nullopt: it names none.
[[nodiscard]] std::optional<std::string> recorded_trace(const std::string& capture_path, const capture::Metadata& metadata);

/// A trace with its requests matched to the waits of the capture. Not moved: the view points into it.
struct WithTrace {
  std::string path;         // untrusted: the capture may name it
  std::string description;  // "simpletrace version 4, little-endian"
  timeline::TracedWaits traced;
  DeviceView view;

  WithTrace(std::string of_path, std::string of_kind, timeline::TracedWaits of_waits, sched::SpanSet window)
      : path(std::move(of_path)), description(std::move(of_kind)), traced(std::move(of_waits)), view{traced, std::move(window)} {}
  WithTrace(const WithTrace&) = delete;
  WithTrace& operator=(const WithTrace&) = delete;

  /// Says on stderr what was lost or cut; kDone or kIncomplete.
  [[nodiscard]] int conclude() const;
};

/// The waits of a capture that task switches and announcements tell; shows on stderr how far it is read.
[[nodiscard]] Result<timeline::DiskWaits> load_disk_waits(const std::string& path);

/// `capture` was loaded with LoadNeeds::replay_if_events or timeline_if_events. nullptr where no trace was asked for.
[[nodiscard]] Result<std::unique_ptr<WithTrace>> load_with_trace(const WithTraceText& text, const LoadedCapture& capture);

}  // namespace qperf::tools
