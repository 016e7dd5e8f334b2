#include <string>
#include <vector>

#include "base/printable.h"
#include "qemutrace/glob.h"
#include "tools/qperf/event_switches.h"
#include "tools/qperf/standard_output.h"
#include "tools/qperf/table.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_analyses.h"

namespace qperf::tools {
namespace {

int list(EventSwitches& qemu, const TraceOptions& options) {
  const std::string pattern = options.words.size() > 1 ? options.words[1] : "*";
  // QEMU itself knows '*' only; with the whole list at hand, '?' works as people expect.
  const auto all = qemu.states("*");
  if (!all) return report_error(all.error());
  Table table({{"Event", "name", true}, {"State", "state", true}});
  for (const EventState& event : *all) {
    if (qemutrace::glob_matches(pattern, event.name)) table.add({cell_text(event.name), cell_text(event.state)});
  }
  if (table.empty())
    return report_error(Error{ErrorCode::kNotFound, "no event of this QEMU matches '" + printable(pattern) + "'"});
  JsonObject json = json_of_job("control");
  json.raw("events", table.json());
  return write_out(options.json ? json.text() : table.text());
}

int set(EventSwitches& qemu, const TraceOptions& options, bool enable) {
  if (options.words.size() != 2)
    return report_error(
        Error{ErrorCode::kUsage, "control " + options.words[0] + ": expected one event name or a pattern with '*'"});
  const std::string& pattern = options.words[1];
  if (pattern.find('?') != std::string::npos && pattern.find('*') == std::string::npos) {
    return report_error(Error{ErrorCode::kUsage, "'" + printable(pattern) +
                                                     "': QEMU takes only names with a '*' as patterns, and would change the "
                                                     "first match of this one alone; write '*' for '?'"});
  }
  const auto matches = qemu.states(pattern);
  if (!matches) return report_error(matches.error());
  size_t unavailable = 0;
  for (const EventState& event : *matches) unavailable += event.state == "unavailable" ? 1 : 0;
  if (matches->size() == unavailable) {
    return report_error(Error{ErrorCode::kNotFound,
                              matches->empty() ? "no event of this QEMU matches '" + printable(pattern) + "'; see control list"
                                               : "every event that matches was compiled out of this QEMU"});
  }
  const auto done = qemu.set(pattern, enable);
  if (!done) return report_error(done.error());
  if (unavailable > 0) report_warning(std::to_string(unavailable) + " matching events were compiled out of this QEMU");
  return write_out(std::to_string(matches->size() - unavailable) + " events " + (enable ? "on\n" : "off\n"));
}

/// `trace-file` has no QMP form; the monitor's own command is run and its text judged.
int trace_file(EventSwitches& qemu, const TraceOptions& options) {
  const std::vector<std::string> words(options.words.begin() + 1, options.words.end());
  const bool is_set = words.size() == 2 && words[0] == "set";
  const bool is_switch = words.size() == 1 && (words[0] == "on" || words[0] == "off" || words[0] == "flush");
  if (!words.empty() && !is_set && !is_switch)
    return report_error(Error{ErrorCode::kUsage, "control file: expected nothing (to ask), on, off, flush or set PATH"});
  if (is_set && words[1].find_first_of("\n\r\"") != std::string::npos)
    return report_error(Error{ErrorCode::kUsage, "control file set: the monitor takes no path with quotes or line breaks"});
  std::string line = "trace-file";
  for (const std::string& word : words) line += " " + (word == words.back() && is_set ? "\"" + word + "\"" : word);
  const auto reply = qemu.monitor(line);
  if (!reply) return report_error(reply.error());
  if (reply->find("unknown command") != std::string::npos)
    return report_error(
        Error{ErrorCode::kUnsupported,
              "this QEMU was built without the simple back end: it has no trace file; its events go to the log (-D FILE)"});
  std::string text;
  for (const char c : *reply) {
    if (c == '\n') text += c;
    if (c != '\n' && c != '\r') text += printable({&c, 1});
  }
  if (text.starts_with("Trace file") || text.empty()) return write_out(text);
  return report_error(Error{ErrorCode::kIo, "QEMU: " + printable(text)});
}

}  // namespace

int trace_control(const TraceOptions& options) {
  const std::string& verb = options.words[0];
  if (verb != "list" && verb != "on" && verb != "off" && verb != "file")
    return report_error(Error{ErrorCode::kUsage, "control '" + printable(verb) + "': expected list, on, off or file"});
  if ((options.qmp.empty() ? 0 : 1) + (options.hmp.empty() ? 0 : 1) + (options.virsh.empty() ? 0 : 1) != 1)
    return report_error(Error{ErrorCode::kUsage, "control: give one of --qmp SOCKET, --hmp SOCKET and --virsh DOMAIN"});
  auto qemu = !options.qmp.empty()   ? switches_by_qmp(options.qmp)
              : !options.hmp.empty() ? switches_by_hmp(options.hmp)
                                     : switches_by_virsh(options.virsh);
  if (!qemu) return report_error(qemu.error());
  const bool changes = verb == "on" || verb == "off" || (verb == "file" && options.words.size() > 1);
  if (!options.virsh.empty() && changes)
    report_warning(
        "this changes QEMU behind libvirt's back: libvirt marks the domain as tainted, and what it knows of it may not hold");
  if (verb == "list") return list(**qemu, options);
  if (verb == "file") return trace_file(**qemu, options);
  return set(**qemu, options, verb == "on");
}

}  // namespace qperf::tools
