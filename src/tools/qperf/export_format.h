#pragma once

#include <span>
#include <string_view>

#include "base/result.h"
#include "export/text_sink.h"
#include "profile/frame_table.h"
#include "tools/profiles/device_lanes.h"
#include "tools/profiles/timeline_output.h"
#include "tools/qperf/capture_options.h"
#include "tools/qperf/with_host.h"

namespace qperf::tools {

/// What there is to write.
struct ExportInput {
  std::string_view name;  // of the capture, without its folders: untrusted
  profile::NamedStacks& names;
  const LoadedCapture& capture;
  const LoadedCapture* baseline = nullptr;  // what it is compared with
  std::string_view baseline_name = {};      // as `name`
  const DeviceView* devices = nullptr;      // what QEMU's devices did meanwhile
  const WithHost* host = nullptr;           // and what the host did
  analysis::Progress* progress = nullptr;   // for what takes long
  bool by_task = false;  // stacks have their task as root frame

  /// What weakens either capture, or comparing them.
  [[nodiscard]] analysis::Messages warnings() const;
  /// The same for a picture of time.
  [[nodiscard]] TimelineInput timeline() const;
};

/// One format of `qperf export`: a row of the table in export_formats.cpp, defined in a file of its own.
struct ExportFormat {
  std::string_view name;
  std::string_view summary;  // for the help: what reads it
  LoadNeeds needs;
  /// Writes the whole file, which may be binary. The sink keeps its own failures.
  Result<void> (*write)(const ExportInput& input, exporter::TextSink& sink);
  /// The same of the time that tasks waited; the events have been replayed. nullptr: the format has no such file.
  Result<void> (*write_off_cpu)(const ExportInput& input, exporter::TextSink& sink) = nullptr;
  bool compares = false;  // write() takes a baseline
  bool draws_time = false;  // write() takes QEMU's trace and a profile of the host
};

extern const ExportFormat kFoldedFormat;
extern const ExportFormat kSpeedscopeFormat;
extern const ExportFormat kPprofFormat;
extern const ExportFormat kPerfettoFormat;
extern const ExportFormat kCallgrindFormat;
extern const ExportFormat kChromeFormat;
extern const ExportFormat kHtmlFormat;
extern const ExportFormat kSvgFormat;

/// In the order of the help text.
[[nodiscard]] std::span<const ExportFormat* const> export_formats() noexcept;

}  // namespace qperf::tools
