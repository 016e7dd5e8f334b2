#include "tools/qperf/record/trace_request.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "base/printable.h"
#include "capture/header_keys.h"
#include "capture/writer.h"
#include "qemutrace/glob.h"
#include "tools/qperf/record/program.h"

namespace qperf::tools {
namespace {

constexpr unsigned kProbeSeconds = 60;
constexpr size_t kMaxPatterns = 10'000;
constexpr size_t kMaxPatternBytes = 1023;  // of a line of an events file, as QEMU reads it

/// When the machine runs, stops and ends: without these a pause of the guest looks like a slow device.
constexpr std::string_view kAlwaysTraced[] = {"runstate_set", "vm_state_notify"};

bool is_pattern_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '*' || c == '?' ||
         c == '.' || c == ':';
}

Result<void> check_pattern(std::string_view pattern, const std::string& where) {
  const std::string_view name = pattern.substr(pattern.starts_with('-') ? 1 : 0);
  if (name.empty() || name.size() > kMaxPatternBytes || !std::ranges::all_of(name, is_pattern_character))
    return Error{ErrorCode::kUsage,
                 fmt::format("{}: '{}' is no event's name or pattern: letters, digits, '_', '*' and '?' are, "
                             "after an optional '-' that takes away",
                             where, printable(pattern.substr(0, 80)))};
  return {};
}

Result<std::vector<std::string>> read_events_file(const std::string& path) {
  std::ifstream file(path);
  if (!file) return Error{ErrorCode::kNotFound, "--trace-events events=" + printable(path) + ": cannot be opened"};
  std::vector<std::string> patterns;
  size_t number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    // What QEMU does not forgive (blanks, a last line without its end) is no matter here: it gets the names by themselves.
    const size_t begin = line.find_first_not_of(" \t\r");
    if (begin == std::string::npos || line[begin] == '#') continue;
    const std::string pattern = line.substr(begin, line.find_last_not_of(" \t\r") + 1 - begin);
    QPERF_RETURN_IF_ERROR(check_pattern(pattern, fmt::format("{}:{}", printable(path), number)));
    patterns.push_back(pattern);
    if (patterns.size() > kMaxPatterns)
      return Error{ErrorCode::kLimit, fmt::format("{}: more than {} patterns", printable(path), kMaxPatterns)};
  }
  return patterns;
}

/// The names that `QEMU -trace help` lists, one a line.
Result<std::vector<std::string>> event_names(const Qemu& qemu) {
  QPERF_ASSIGN_OR_RETURN(const Captured said, run_captured({qemu.path, "-trace", "help"}, {}, kProbeSeconds));
  std::vector<std::string> names;
  std::string_view rest = said.text;
  while (!rest.empty()) {
    const size_t end = std::min(rest.find('\n'), rest.size());
    const std::string_view name = rest.substr(0, end);
    if (!name.empty() && std::ranges::all_of(name, is_pattern_character)) names.emplace_back(name);
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (names.size() < 100)
    return Error{ErrorCode::kUnsupported, fmt::format("{}: '-trace help' lists no events: '{}'", printable(qemu.path),
                                                      printable(said.text.substr(0, 120)))};
  return names;
}

/// Only the binary back end has a file to be controlled.
Result<bool> has_simple_back_end(const Qemu& qemu) {
  QPERF_ASSIGN_OR_RETURN(const Captured said,
                         run_captured({qemu.path, "-M", "none", "-nodefaults", "-display", "none", "-S", "-monitor", "stdio"},
                                      "help trace-file\nquit\n", kProbeSeconds));
  return said.text.find("trace-file [") != std::string::npos || said.text.find("trace-file on") != std::string::npos;
}

/// A '%' of a log's name begins a pattern for QEMU, of which it knows "%d" alone and which nothing escapes.
Result<void> check_log_name(const QemuArguments& arguments, const std::string& capture) {
  if (arguments.log_per_thread)
    return Error{ErrorCode::kUsage, "--trace-events: with -d tid each thread of QEMU has a log of its own, of which a capture can name one "
                                    "only: take 'tid' away"};
  if (!arguments.log_file && capture.find('%') != std::string::npos)
    return Error{ErrorCode::kUsage, fmt::format("-o {}: QEMU's log would lie beside it, and QEMU refuses names of logs with '%': give a file "
                                                "and a folder without it, or say with -D FILE among QEMU's arguments where the log goes",
                                                printable(capture))};
  return {};
}

/// QEMU takes a name with '?' as a pattern only if a '*' is in it, too, and would change the first match alone.
std::vector<std::string> spelled_out(const std::string& pattern, const std::vector<std::string>& names) {
  if (pattern.find('?') == std::string::npos || pattern.find('*') != std::string::npos) return {pattern};
  const bool takes_away = pattern.starts_with('-');
  std::vector<std::string> out;
  for (const std::string& name : names) {
    if (qemutrace::glob_matches(std::string_view(pattern).substr(takes_away ? 1 : 0), name))
      out.push_back((takes_away ? "-" : "") + name);
  }
  return out;
}

}  // namespace

Result<std::vector<std::string>> read_trace_patterns(const std::string& text) {
  constexpr std::string_view kFile = "events=";
  if (text.starts_with(kFile)) return read_events_file(text.substr(kFile.size()));
  std::vector<std::string> patterns = split_at_commas(text);
  for (const std::string& pattern : patterns) QPERF_RETURN_IF_ERROR(check_pattern(pattern, "--trace-events"));
  return patterns;
}

Result<TraceRequest> plan_trace(const Qemu& qemu, const QemuArguments& arguments, const std::vector<std::string>& patterns,
                                const std::string& capture) {
  TraceRequest trace;
  QPERF_ASSIGN_OR_RETURN(const auto names, event_names(qemu));
  QPERF_ASSIGN_OR_RETURN(trace.simple, has_simple_back_end(qemu));
  for (const std::string& pattern : patterns) {
    const std::string_view glob = std::string_view(pattern).substr(pattern.starts_with('-') ? 1 : 0);
    const bool known =
        std::ranges::any_of(names, [glob](const std::string& name) { return qemutrace::glob_matches(glob, name); });
    if (!known)
      return Error{ErrorCode::kNotFound,
                   fmt::format("--trace-events: no event of {} (QEMU {}) matches '{}'; '{} -trace help' lists them",
                               printable(qemu.path), qemu.version, printable(pattern), printable(qemu.path))};
    for (std::string& word : spelled_out(pattern, names)) trace.patterns.push_back(std::move(word));
  }
  for (const std::string_view always : kAlwaysTraced) trace.patterns.emplace_back(always);
  for (const std::string& pattern : trace.patterns) {
    trace.options.emplace_back("-trace");
    trace.options.push_back("enable=" + pattern);
  }
  if (trace.simple) {
    trace.file = capture + ".trace";
    trace.options.insert(trace.options.end(), {"-trace", "file=" + with_commas_doubled(trace.file)});
    return trace;
  }
  QPERF_RETURN_IF_ERROR(check_log_name(arguments, capture));
  trace.options.insert(trace.options.end(), {"-msg", "timestamp=on"});
  trace.file = arguments.log_file.value_or(capture + ".trace.log");
  if (!arguments.log_file) trace.options.insert(trace.options.end(), {"-D", trace.file});
  return trace;
}

void name_log_of(TraceRequest& trace, pid_t qemu) {
  constexpr std::string_view kProcessId = "%d";
  const size_t at = trace.file.find(kProcessId);
  if (!trace.simple && at != std::string::npos) trace.file.replace(at, kProcessId.size(), std::to_string(qemu));
}

Result<void> note_trace(const TraceRequest& trace, const std::string& capture) {
  namespace fs = std::filesystem;
  std::error_code failure;
  if (!fs::exists(trace.file, failure))
    return Error{ErrorCode::kNotFound, printable(trace.file) + ": QEMU wrote no trace there"};
  const fs::path file = fs::absolute(trace.file, failure).lexically_normal();
  const fs::path folder = fs::absolute(capture, failure).lexically_normal().parent_path();
  const std::string kept = file.parent_path() == folder ? file.filename().string() : file.string();
  std::string patterns;
  for (const std::string& pattern : trace.patterns) patterns += (patterns.empty() ? "" : ",") + pattern;
  return capture::append_metadata(
      capture.c_str(), {{std::string(capture::kTraceFileKey), kept}, {std::string(capture::kTraceEventsKey), patterns}});
}

}  // namespace qperf::tools
