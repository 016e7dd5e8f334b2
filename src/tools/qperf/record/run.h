#pragma once

#include <sys/types.h>

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "tools/qperf/record/gate.h"

namespace qperf::tools {

/// A QEMU to be run and what to do to it meanwhile.
struct RunPlan {
  std::vector<std::string> command;  // QEMU's file and all its arguments
  bool watch_console = false;        // the gate's rules look at lines
  Gate::Rules gate;
  std::string control_path;             // the plugin's socket, through which the gate works; empty: it samples all the time
  std::optional<uint64_t> duration_ns;  // since sampling began; QEMU is stopped then
  std::optional<std::string> qmp_socket;
  std::string capture;  // shown in the status line
};

struct RunOutcome {
  int wait_status = 0;
  pid_t pid = -1;          // QEMU's
  bool ever_open = false;  // sampling was on at some time
  bool killed = false;     // QEMU did not stop when it was asked to
};

/// How long QEMU has after each of SIGTERM and QMP's quit before it is killed.
inline constexpr uint64_t kStopStepNs = 5'000'000'000;

/// Runs QEMU on our terminal until it ends. SIGTERM and SIGHUP stop it as the end of the duration does; the keyboard's signals
/// are QEMU's to answer.
[[nodiscard]] Result<RunOutcome> run_qemu(RunPlan plan);

}  // namespace qperf::tools
