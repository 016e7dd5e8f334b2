#pragma once

#include <deque>
#include <unordered_map>

#include "qemutrace/source.h"
#include "qemutrace/text_lead.h"

namespace qperf::qemutrace {

/// Reader of QEMU's events as lines of text, mixed with lines of any other kind: the log back end with and without time stamps,
/// log-stap, ftrace, syslog, babeltrace. Values are read back through the declared format strings and widened as the simple
/// back end would have stored them; arguments that a format does not show are marked missing.
class TextTraceReader final : public EventSource {
 public:
  TextTraceReader(Input input, const Declarations& declarations);

  bool next(Event& event) override;
  [[nodiscard]] const ReadReport& report() const noexcept override { return report_; }
  [[nodiscard]] TraceClock clock() const noexcept override { return form_ == nullptr ? TraceClock::kNone : form_->clock; }
  [[nodiscard]] std::string description() const override;
  [[nodiscard]] size_t event_kinds() const noexcept override { return kinds_.size(); }

 private:
  struct Kind {
    EventInfo info;
    std::optional<CompiledFormat> format;
    std::pair<uint64_t, std::string>* mismatch = nullptr;
  };

  bool next_line(std::string_view& line);
  bool parse(std::string_view line, Event& event);
  bool take(const TextForm& form, const TextLead& lead, Event& event);
  bool fields(const Kind& kind, std::string_view text, Event& event);
  bool take_host(const TextLead& lead, Event& event);
  void undeclared(std::string_view name, Event& event);
  Kind& kind_of(std::string_view name, const Declaration* declaration);

  Input input_;
  const Declarations& declarations_;
  ReadReport report_;
  bool ended_ = false;
  const TextForm* form_ = nullptr;  // of the last event: tried first
  std::deque<Kind> kinds_;
  Declaration host_event_;  // what every event of the host's kernel has: its text
  std::unordered_map<std::string_view, Kind*> by_name_;
  std::deque<std::string> unescaped_;  // babeltrace strings of the current event that had escapes
};

}  // namespace qperf::qemutrace
