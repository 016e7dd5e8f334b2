#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace qperf::tools {

/// What of a QEMU command line matters to a recording.
struct QemuArguments {
  /// The accelerator that QEMU tries first; "tcg" where none is named.
  std::string accelerator = "tcg";
  std::string accelerator_option;         // the words that say so: "-enable-kvm"; empty with the default
  std::optional<std::string> kernel;      // of -kernel
  std::optional<std::string> qmp_socket;  // of -qmp unix:PATH
  std::optional<std::string> log_file;    // of -D; QEMU puts its process id where "%d" is
  bool log_per_thread = false;            // of -d tid
  bool daemonizes = false;
  bool loads_qperf = false;  // a -plugin libqperf.so is among them already
};

/// Looks at QEMU's options; `arguments` are those after the program's name.
[[nodiscard]] QemuArguments read_qemu_arguments(std::span<const std::string> arguments);

/// A value as QEMU's option parser wants it between commas: each comma doubled.
[[nodiscard]] std::string with_commas_doubled(std::string_view value);

/// The parts of an option's value between single commas, doubled ones undone.
[[nodiscard]] std::vector<std::string> split_at_commas(std::string_view value);

}  // namespace qperf::tools
