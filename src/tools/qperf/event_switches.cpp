#include "tools/qperf/event_switches.h"

#include <sys/wait.h>

#include <algorithm>
#include <utility>

#include "base/json_quoted.h"
#include "base/printable.h"
#include "tools/qperf/hmp.h"
#include "tools/qperf/qmp.h"
#include "tools/qperf/record/program.h"

namespace qperf::tools {
namespace {

constexpr unsigned kVirshSeconds = 30;

/// In terms of the machine's protocol: a command and its arguments as JSON.
class JsonSwitches : public EventSwitches {
 public:
  Result<std::vector<EventState>> states(const std::string& pattern) override {
    QPERF_ASSIGN_OR_RETURN(const JsonValue list, execute("trace-event-get-state", "{\"name\": " + json_quoted(pattern) + "}"));
    std::vector<EventState> out;
    for (const JsonValue& item : list.items) {
      const JsonValue* name = item.member("name");
      const JsonValue* state = item.member("state");
      if (name != nullptr && state != nullptr) out.push_back({name->text, state->text});
    }
    return out;
  }

  Result<void> set(const std::string& pattern, bool enable) override {
    QPERF_RETURN_IF_ERROR(execute("trace-event-set-state", "{\"name\": " + json_quoted(pattern) +
                                                               ", \"enable\": " + (enable ? "true" : "false") +
                                                               ", \"ignore-unavailable\": true}"));
    return {};
  }

  Result<std::string> monitor(const std::string& line) override {
    QPERF_ASSIGN_OR_RETURN(const JsonValue reply,
                           execute("human-monitor-command", "{\"command-line\": " + json_quoted(line) + "}"));
    return reply.text;
  }

 private:
  virtual Result<JsonValue> execute(const std::string& command, const std::string& arguments) = 0;
};

class QmpSwitches final : public JsonSwitches {
 public:
  explicit QmpSwitches(Qmp qmp) : qmp_(std::move(qmp)) {}

 private:
  Result<JsonValue> execute(const std::string& command, const std::string& arguments) override {
    return qmp_.execute(command, arguments);
  }
  Qmp qmp_;
};

class VirshSwitches final : public JsonSwitches {
 public:
  VirshSwitches(std::string program, std::string domain) : program_(std::move(program)), domain_(std::move(domain)) {}

 private:
  Result<JsonValue> execute(const std::string& command, const std::string& arguments) override {
    const std::string request = "{\"execute\": " + json_quoted(command) + ", \"arguments\": " + arguments + "}";
    QPERF_ASSIGN_OR_RETURN(const Captured said,
                           run_captured({program_, "qemu-monitor-command", domain_, request}, {}, kVirshSeconds));
    if (!WIFEXITED(said.status) || WEXITSTATUS(said.status) != 0)
      return Error{ErrorCode::kIo, "virsh: " + printable(said.text.substr(0, std::min<size_t>(said.text.find('\n'), 300)))};
    // libvirt's warnings may stand before the answer.
    const size_t begin = std::min(said.text.find('{'), said.text.size());
    const size_t end = std::min(said.text.find('\n', begin), said.text.size());
    auto reply = parse_json(std::string_view(said.text).substr(begin, end - begin));
    if (!reply) return std::move(reply).error().in("virsh");
    if (const JsonValue* value = reply->member("return")) return JsonValue(*value);
    const JsonValue* error = reply->member("error");
    const JsonValue* text = error == nullptr ? nullptr : error->member("desc");
    return Error{ErrorCode::kUnsupported, "QEMU: " + printable(text == nullptr ? "error without a description" : text->text)};
  }

  std::string program_;
  std::string domain_;
};

class HmpSwitches final : public EventSwitches {
 public:
  explicit HmpSwitches(Hmp hmp) : hmp_(std::move(hmp)) {}

  Result<std::vector<EventState>> states(const std::string& pattern) override {
    QPERF_RETURN_IF_ERROR(check(pattern));
    QPERF_ASSIGN_OR_RETURN(const std::string text, hmp_.run("info trace-events " + pattern));
    std::vector<EventState> out;
    std::string_view rest = text;
    while (!rest.empty()) {
      const size_t end = std::min(rest.find('\n'), rest.size());
      const std::string_view line = rest.substr(0, end);
      rest.remove_prefix(std::min(end + 1, rest.size()));
      constexpr std::string_view kState = " : state ";
      const size_t at = line.find(kState);
      if (at == std::string_view::npos) continue;
      const bool on = line.substr(at + kState.size()).starts_with('1');
      out.push_back({std::string(line.substr(0, at)), on ? "enabled" : "disabled"});
    }
    return out;
  }

  Result<void> set(const std::string& pattern, bool enable) override {
    QPERF_RETURN_IF_ERROR(check(pattern));
    QPERF_ASSIGN_OR_RETURN(const std::string text, hmp_.run("trace-event " + pattern + (enable ? " on" : " off")));
    if (text.empty()) return {};
    return Error{ErrorCode::kUnsupported, "QEMU: " + printable(text.substr(0, text.find('\n')))};
  }

  Result<std::string> monitor(const std::string& line) override { return hmp_.run(line); }

 private:
  /// A line of the monitor has its own quoting; no event needs it.
  static Result<void> check(const std::string& pattern) {
    const bool plain = std::ranges::all_of(pattern, [](char c) { return c > ' ' && c < 0x7f && c != '"' && c != '\\'; });
    if (plain && !pattern.empty()) return {};
    return Error{ErrorCode::kUsage, "'" + printable(pattern) + "': is no event's name or pattern"};
  }

  Hmp hmp_;
};

}  // namespace

Result<std::unique_ptr<EventSwitches>> switches_by_qmp(const std::string& socket) {
  QPERF_ASSIGN_OR_RETURN(Qmp qmp, Qmp::connect(socket));
  return std::unique_ptr<EventSwitches>(std::make_unique<QmpSwitches>(std::move(qmp)));
}

Result<std::unique_ptr<EventSwitches>> switches_by_hmp(const std::string& socket) {
  QPERF_ASSIGN_OR_RETURN(Hmp hmp, Hmp::connect(socket));
  return std::unique_ptr<EventSwitches>(std::make_unique<HmpSwitches>(std::move(hmp)));
}

Result<std::unique_ptr<EventSwitches>> switches_by_virsh(const std::string& domain) {
  if (domain.empty() || domain.starts_with('-'))
    return Error{ErrorCode::kUsage,
                 "--virsh '" + printable(domain) + "': expected a domain's name, id or UUID, as 'virsh list' shows"};
  QPERF_ASSIGN_OR_RETURN(std::string program, find_program("virsh"));
  return std::unique_ptr<EventSwitches>(std::make_unique<VirshSwitches>(std::move(program), domain));
}

}  // namespace qperf::tools
