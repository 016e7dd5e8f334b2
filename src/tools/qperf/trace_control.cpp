#include <array>
#include <string>
#include <vector>

#include "base/printable.h"
#include "qemutrace/glob.h"
#include "tools/qperf/json.h"
#include "tools/qperf/qmp.h"
#include "tools/qperf/table.h"
#include "tools/qperf/terminal.h"
#include "tools/qperf/trace_options.h"

namespace qperf::tools {
namespace {

struct EventState {
  std::string name;
  std::string state;  // enabled, disabled, unavailable
};

/// What QEMU answers for a pattern, an empty list for one that matches nothing.
Result<std::vector<EventState>> states(Qmp& qmp, const std::string& pattern) {
  QPERF_ASSIGN_OR_RETURN(const JsonValue list,
                         qmp.execute("trace-event-get-state", "{\"name\": " + json_string(pattern) + "}"));
  std::vector<EventState> out;
  for (const JsonValue& item : list.items) {
    const JsonValue* name = item.member("name");
    const JsonValue* state = item.member("state");
    if (name != nullptr && state != nullptr) out.push_back({name->text, state->text});
  }
  return out;
}

int list(Qmp& qmp, const TraceOptions& options) {
  const std::string pattern = options.words.size() > 1 ? options.words[1] : "*";
  // QEMU itself knows '*' only; with the whole list at hand, '?' works as people expect.
  const auto all = states(qmp, "*");
  if (!all) return report_error(all.error());
  Table table({{"Event", "name", true}, {"State", "state", true}});
  for (const EventState& event : *all) {
    if (qemutrace::glob_matches(pattern, event.name)) table.add({cell_text(event.name), cell_text(event.state)});
  }
  if (table.empty())
    return report_error(Error{ErrorCode::kNotFound, "no event of this QEMU matches '" + printable(pattern) + "'"});
  JsonObject json;
  json.raw("events", table.json());
  return write_out(options.json ? json.text() : table.text());
}

int set(Qmp& qmp, const TraceOptions& options, bool enable) {
  if (options.words.size() != 2)
    return report_error(
        Error{ErrorCode::kUsage, "control " + options.words[0] + ": expected one event name or a pattern with '*'"});
  const std::string& pattern = options.words[1];
  if (pattern.find('?') != std::string::npos && pattern.find('*') == std::string::npos) {
    return report_error(Error{ErrorCode::kUsage, "'" + printable(pattern) +
                                                     "': QEMU takes only names with a '*' as patterns, and would change the "
                                                     "first match of this one alone; write '*' for '?'"});
  }
  const auto matches = states(qmp, pattern);
  if (!matches) return report_error(matches.error());
  size_t unavailable = 0;
  for (const EventState& event : *matches) unavailable += event.state == "unavailable" ? 1 : 0;
  if (matches->size() == unavailable) {
    return report_error(Error{ErrorCode::kNotFound,
                              matches->empty() ? "no event of this QEMU matches '" + printable(pattern) + "'; see control list"
                                               : "every event that matches was compiled out of this QEMU"});
  }
  const auto done = qmp.execute("trace-event-set-state", "{\"name\": " + json_string(pattern) + ", \"enable\": " +
                                                             (enable ? "true" : "false") + ", \"ignore-unavailable\": true}");
  if (!done) return report_error(done.error());
  if (unavailable > 0) report_warning(std::to_string(unavailable) + " matching events were compiled out of this QEMU");
  return write_out(std::to_string(matches->size() - unavailable) + " events " + (enable ? "on\n" : "off\n"));
}

/// `trace-file` has no QMP form; the monitor's own command is run and its text judged.
int trace_file(Qmp& qmp, const TraceOptions& options) {
  const std::vector<std::string> words(options.words.begin() + 1, options.words.end());
  const bool is_set = words.size() == 2 && words[0] == "set";
  const bool is_switch = words.size() == 1 && (words[0] == "on" || words[0] == "off" || words[0] == "flush");
  if (!words.empty() && !is_set && !is_switch)
    return report_error(Error{ErrorCode::kUsage, "control file: expected nothing (to ask), on, off, flush or set PATH"});
  if (is_set && words[1].find_first_of("\n\r\"") != std::string::npos)
    return report_error(Error{ErrorCode::kUsage, "control file set: the monitor takes no path with quotes or line breaks"});
  std::string line = "trace-file";
  for (const std::string& word : words) line += " " + (word == words.back() && is_set ? "\"" + word + "\"" : word);
  const auto reply = qmp.execute("human-monitor-command", "{\"command-line\": " + json_string(line) + "}");
  if (!reply) return report_error(reply.error());
  if (reply->text.find("unknown command") != std::string::npos)
    return report_error(
        Error{ErrorCode::kUnsupported,
              "this QEMU was built without the simple back end: it has no trace file; its events go to the log (-D FILE)"});
  std::string text;
  for (const char c : reply->text) {
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
  auto qmp = Qmp::connect(options.qmp);
  if (!qmp) return report_error(qmp.error());
  if (verb == "list") return list(*qmp, options);
  if (verb == "file") return trace_file(*qmp, options);
  return set(*qmp, options, verb == "on");
}

}  // namespace qperf::tools
