#pragma once

#include <optional>
#include <string>
#include <vector>

namespace qperf::tools {

/// The command line of `qperf record`, as typed; the plugin itself checks what is meant for it.
struct RecordOptions {
  std::string elf;
  std::string output = "qperf.bin";
  std::string mode;
  std::string freq;
  std::string period;
  std::string jitter;
  bool trace = false;
  std::vector<std::string> plugin_arguments;  // NAME=VALUE each
  std::string plugin;                         // the file
  std::string control;                        // a socket that others may use, too
  std::optional<double> duration_s;
  std::optional<double> delay_s;
  std::string start_on;
  std::string stop_on;
  std::string trace_events;
  bool quiet = false;
  std::vector<std::string> command;  // QEMU and its arguments
};

/// Runs it; the exit code is QEMU's own where QEMU was run.
int record(const RecordOptions& options);

}  // namespace qperf::tools
