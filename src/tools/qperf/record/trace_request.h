#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "tools/qperf/record/probe.h"
#include "tools/qperf/record/qemu_arguments.h"

namespace qperf::tools {

/// QEMU's own trace events as part of a recording.
struct TraceRequest {
  std::vector<std::string> patterns;  // as QEMU takes them, in order: a leading '-' takes away
  bool simple = false;                // the binary back end writes; else the log does
  std::string file;                   // where the events go
  std::vector<std::string> options;   // for QEMU's command line
};

/// The patterns of `--trace-events`: names and globs between commas, or `events=FILE` with one a line ('#' in column 0 begins a
/// comment). Errors name what QEMU would silently take otherwise.
[[nodiscard]] Result<std::vector<std::string>> read_trace_patterns(const std::string& text);

/// Asks `qemu` which events and back ends it has and makes the options; runstate_set and vm_state_notify are always among them.
/// A pattern that no event of this QEMU matches is an Error. `arguments`: a -D of the user's is where the log goes then.
[[nodiscard]] Result<TraceRequest> plan_trace(const Qemu& qemu, const QemuArguments& arguments,
                                              const std::vector<std::string>& patterns, const std::string& capture);

/// The file's name in the run of the process `qemu`: QEMU replaces "%d" in names of logs.
void name_log_of(TraceRequest& trace, pid_t qemu);

/// Names the trace in the capture's metadata. The path is kept relative where both files lie in one folder.
[[nodiscard]] Result<void> note_trace(const TraceRequest& trace, const std::string& capture);

}  // namespace qperf::tools
