#include <fmt/core.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>

#include "base/printable.h"
#include "guest/trace_events.h"
#include "symbols/image.h"
#include "tools/command_line/patterns.h"
#include "tools/profiles/selection.h"
#include "tools/qperf/command.h"
#include "tools/qperf/record/child.h"
#include "tools/qperf/record/probe.h"
#include "tools/qperf/record/record_options.h"
#include "tools/qperf/record/run.h"
#include "tools/qperf/record/summary.h"
#include "tools/qperf/record/trace_request.h"
#include "tools/qperf/terminal.h"

namespace qperf::tools {
namespace {

namespace fs = std::filesystem;

/// A folder for the plugin's socket that nobody else can enter; gone afterwards.
class PrivateFolder {
 public:
  static Result<PrivateFolder> make() {
    const char* runtime = std::getenv("XDG_RUNTIME_DIR");
    std::string path = std::string(runtime != nullptr && *runtime != '\0' ? runtime : "/tmp") + "/qperf-XXXXXX";
    if (::mkdtemp(path.data()) == nullptr) return Error{ErrorCode::kIo, printable(path) + ": cannot be made"};
    return PrivateFolder(path);
  }
  PrivateFolder(PrivateFolder&& other) noexcept : path_(std::move(other.path_)) { other.path_.clear(); }
  PrivateFolder& operator=(PrivateFolder&&) = delete;
  ~PrivateFolder() {
    std::error_code ignored;
    if (!path_.empty()) fs::remove_all(path_, ignored);
  }
  [[nodiscard]] std::string file(const char* name) const { return path_ + "/" + name; }

 private:
  explicit PrivateFolder(std::string path) : path_(std::move(path)) {}
  std::string path_;
};

bool is_elf(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  char magic[4] = {};
  return file.read(magic, sizeof magic) && std::string_view(magic, 4) ==
                                               "\x7f"
                                               "ELF";
}

std::string absolute(const std::string& path) {
  std::error_code ignored;
  return fs::absolute(path, ignored).lexically_normal().string();
}

/// The kernel with symbols: what the user gives, or -kernel if that is one. Empty: samples will have addresses only.
Result<std::string> choose_elf(const RecordOptions& options, const QemuArguments& arguments) {
  if (!options.elf.empty()) {
    if (!is_elf(options.elf))
      return Error{ErrorCode::kUsage, printable(options.elf) +
                                          ": is no ELF file; give the kernel with symbols (vmlinux), not the "
                                          "flat image that boots"};
    return absolute(options.elf);
  }
  if (arguments.kernel && is_elf(*arguments.kernel)) return absolute(*arguments.kernel);
  if (!options.quiet)
    report_warning(
        arguments.kernel
            ? printable(*arguments.kernel) +
                  " is no ELF file, so it has no symbols: give the kernel's ELF with -e, or later "
                  "to what reads the capture"
            : std::string("no -e and no -kernel: give the kernel's ELF with -e, or later to what reads the capture"));
  return std::string();
}

Result<void> check_marker(const std::string& elf) {
  if (elf.empty())
    return Error{ErrorCode::kUsage,
                 "--trace: the guest's trace marker is looked up in the kernel's ELF, and there is none: give -e"};
  QPERF_ASSIGN_OR_RETURN(const auto image, symbols::Image::open(elf));
  if (!image.symbol_address(guest::kTraceMarkerSymbol))
    return Error{ErrorCode::kNotFound, fmt::format("--trace: {} has no symbol {}: this kernel does not tell of its tasks "
                                                   "(docs/guest-trace-abi.md says how one does)",
                                                   printable(elf), guest::kTraceMarkerSymbol)};
  return {};
}

/// ",name=value" of everything but the files of this very run.
Result<std::string> plugin_arguments(const RecordOptions& options, const std::string& elf) {
  std::string text;
  const auto add = [&text](std::string_view name, const std::string& value) {
    if (!value.empty()) text += "," + std::string(name) + "=" + with_commas_doubled(value);
  };
  add("mode", options.mode);
  add("freq", options.freq);
  add("period", options.period);
  add("jitter", options.jitter);
  add("elf", elf);
  if (options.trace) add("trace", "auto");
  for (const std::string& argument : options.plugin_arguments) {
    const size_t equals = argument.find('=');
    const std::string name = argument.substr(0, equals);
    if (equals == std::string::npos || name.empty())
      return Error{ErrorCode::kUsage, "--plugin-argument '" + printable(argument) + "': expected NAME=VALUE"};
    if (name == "out" || name == "control" || name == "help")
      return Error{ErrorCode::kUsage, "--plugin-argument " + name + ": record sets it itself (-o, --control)"};
    add(name, argument.substr(equals + 1));
  }
  return text;
}

Result<std::optional<uint64_t>> parse_seconds(const char* option, std::optional<double> seconds) {
  constexpr double kMostSeconds = 1e9;
  if (!seconds) return std::optional<uint64_t>();
  if (!(*seconds >= 0 && *seconds <= kMostSeconds))
    return Error{ErrorCode::kUsage, fmt::format("{} {}: seconds from 0 to 1000000000 are allowed", option, *seconds)};
  return std::optional(static_cast<uint64_t>(std::llround(*seconds * 1e9)));
}

/// What is known and checked before QEMU runs.
struct Preparation {
  RunPlan plan;
  std::optional<TraceRequest> trace;
  std::optional<PrivateFolder> socket_folder;
};

Result<Preparation> prepare(const RecordOptions& options) {
  Preparation out;
  RunPlan& plan = out.plan;
  const QemuArguments arguments = read_qemu_arguments(std::span(options.command).subspan(1));
  QPERF_RETURN_IF_ERROR(check_can_be_recorded(options.command.front(), arguments));
  QPERF_RETURN_IF_ERROR(check_no_input_is_overwritten({options.elf, arguments.kernel.value_or("")}, {options.output}));
  QPERF_ASSIGN_OR_RETURN(plan.gate.start_on, parse_pattern("--start-on", options.start_on));
  QPERF_ASSIGN_OR_RETURN(plan.gate.stop_on, parse_pattern("--stop-on", options.stop_on));
  QPERF_ASSIGN_OR_RETURN(const auto delay_ns, parse_seconds("--delay", options.delay_s));
  QPERF_ASSIGN_OR_RETURN(plan.duration_ns, parse_seconds("--duration", options.duration_s));
  plan.gate.delay_ns = delay_ns.value_or(0);
  plan.watch_console = plan.gate.start_on || plan.gate.stop_on;
  plan.qmp_socket = arguments.qmp_socket;
  plan.capture = options.output;

  QPERF_ASSIGN_OR_RETURN(const std::string elf, choose_elf(options, arguments));
  if (options.trace) QPERF_RETURN_IF_ERROR(check_marker(elf));
  QPERF_ASSIGN_OR_RETURN(std::string loaded, plugin_arguments(options, elf));
  QPERF_ASSIGN_OR_RETURN(const Qemu qemu, find_qemu(options.command.front()));
  QPERF_ASSIGN_OR_RETURN(const std::string plugin, find_plugin(options.plugin));
  QPERF_RETURN_IF_ERROR(try_plugin(qemu, plugin, loaded));

  // The duration, too: it must not count how long QEMU takes to come up.
  const bool gated = plan.watch_console || delay_ns.value_or(0) > 0 || plan.duration_ns;
  if (!options.control.empty()) {
    plan.control_path = absolute(options.control);
  } else if (gated) {
    QPERF_ASSIGN_OR_RETURN(PrivateFolder folder, PrivateFolder::make());
    out.socket_folder.emplace(std::move(folder));
    plan.control_path = out.socket_folder->file("control");
  }
  loaded += ",out=" + with_commas_doubled(absolute(options.output));
  if (!plan.control_path.empty()) loaded += ",control=" + with_commas_doubled(plan.control_path);
  plan.command = options.command;
  plan.command.front() = qemu.path;
  plan.command.insert(plan.command.end(), {"-plugin", with_commas_doubled(plugin) + loaded});
  if (!options.trace_events.empty()) {
    QPERF_ASSIGN_OR_RETURN(const auto patterns, read_trace_patterns(options.trace_events));
    QPERF_ASSIGN_OR_RETURN(out.trace, plan_trace(qemu, arguments, patterns, absolute(options.output)));
    plan.command.insert(plan.command.end(), out.trace->options.begin(), out.trace->options.end());
  }
  return out;
}

/// What changes of a file when a recording is written to it; nullopt: there is none.
struct FileState {
  ino_t inode;
  off_t size_bytes;
  time_t seconds;
  long nanoseconds;
  bool operator==(const FileState&) const = default;
};
std::optional<FileState> state_of(const std::string& path) {
  struct stat status {};
  if (::stat(path.c_str(), &status) != 0) return std::nullopt;
  return FileState{status.st_ino, status.st_size, status.st_mtim.tv_sec, status.st_mtim.tv_nsec};
}

/// What to type next.
void print_hints(const RecordOptions& options, const std::optional<TraceRequest>& trace) {
  const std::string file = printable(options.output);
  fmt::print(stderr, "qperf: next: qperf report --tree {0}; qperf export {0} --format html -o report.html\n", file);
  if (options.trace)
    fmt::print(stderr, "qperf: tasks: qperf stat {0}; qperf report --off-cpu {0}\n", file);
  if (trace) fmt::print(stderr, "qperf: devices: qperf trace io {0}; qperf report --off-cpu --with-trace auto {1}\n", printable(trace->file), file);
}

int conclude_recording(const RecordOptions& options, const Preparation& prepared, const RunOutcome& outcome,
                       const std::optional<FileState>& before) {
  const int code = exit_code_of(outcome.wait_status);
  // An earlier capture survives a start that fails: it must not be shown as this run's.
  if (before && state_of(options.output) == before) {
    report_warning(fmt::format("QEMU ended before the guest ran: nothing was recorded, {} is as it was", printable(options.output)));
    return code == 0 ? kFailed : code;
  }
  if (outcome.killed) report_warning("QEMU did not stop when it was asked to and was killed: the last second is missing");
  if (!outcome.ever_open)
    report_warning(
        options.start_on.empty()
            ? std::string("QEMU ended before sampling began: nothing was recorded")
            : fmt::format("no line of the guest's console matched --start-on '{}': nothing was recorded. Is the console on "
                          "QEMU's standard output, as with -nographic or -serial mon:stdio?",
                          printable(options.start_on)));
  const bool noted = !prepared.trace || [&] {
    const auto done = note_trace(*prepared.trace, options.output);
    if (!done) report_warning(done.error().message);
    return done.ok();
  }();
  if (options.quiet) return code == 0 && (!noted || ::access(options.output.c_str(), R_OK) != 0) ? kFailed : code;
  const auto summary = summarize(options.output);
  if (!summary) {
    const int failed = report_error(summary.error());
    return code == 0 ? failed : code;
  }
  std::fwrite(summary->data(), 1, summary->size(), stderr);
  print_hints(options, prepared.trace);
  return code == 0 && !noted ? kFailed : code;
}

}  // namespace

int record(const RecordOptions& options) {
  auto prepared = prepare(options);
  if (!prepared) return report_error(prepared.error());
  const auto before = state_of(options.output);
  const auto outcome = run_qemu(prepared->plan);
  if (!outcome) return report_error(outcome.error());
  if (prepared->trace) name_log_of(*prepared->trace, outcome->pid);
  return conclude_recording(options, *prepared, *outcome, before);
}

}  // namespace qperf::tools
