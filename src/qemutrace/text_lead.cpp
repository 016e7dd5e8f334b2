#include "qemutrace/text_lead.h"

#include <algorithm>
#include <charconv>

namespace qperf::qemutrace {
namespace {

constexpr uint64_t kNsPerSecond = 1'000'000'000;

/// Reads one lead from the front; every step says whether it went well, and a failed one ends the attempt.
class Cursor {
 public:
  explicit Cursor(std::string_view text) : text_(text) {}

  bool literal(std::string_view expected) {
    if (!text_.starts_with(expected)) return false;
    text_.remove_prefix(expected.size());
    return true;
  }
  bool number(uint64_t& value) {
    const auto [end, failure] = std::from_chars(text_.data(), text_.data() + text_.size(), value);
    if (failure != std::errc{}) return false;
    text_.remove_prefix(static_cast<size_t>(end - text_.data()));
    return true;
  }
  bool small(uint32_t& value) {
    uint64_t wide = 0;
    if (!number(wide) || wide > 0xffffffff) return false;
    value = static_cast<uint32_t>(wide);
    return true;
  }
  /// ".123456": a fraction of a second, up to nine digits.
  bool fraction_ns(uint64_t& ns) {
    if (!literal(".")) return false;
    ns = 0;
    uint64_t unit = kNsPerSecond;
    size_t digits = 0;
    while (digits < text_.size() && text_[digits] >= '0' && text_[digits] <= '9' && digits < 9) {
      unit /= 10;
      ns += static_cast<uint64_t>(text_[digits++] - '0') * unit;
    }
    text_.remove_prefix(digits);
    return digits > 0;
  }
  bool seconds(uint64_t& ns) {
    uint64_t whole = 0;
    uint64_t part = 0;
    if (!number(whole) || !fraction_ns(part) || whole > ~uint64_t{0} / kNsPerSecond - 1) return false;
    ns = whole * kNsPerSecond + part;
    return true;
  }
  /// "23:35:01"
  bool clock_time(uint64_t& ns) {
    uint64_t h = 0, m = 0, s = 0;
    if (!number(h) || !literal(":") || !number(m) || !literal(":") || !number(s) || h > 23 || m > 59 || s > 60) return false;
    ns = ((h * 60 + m) * 60 + s) * kNsPerSecond;
    return true;
  }
  void blanks() { text_.remove_prefix(std::min(text_.find_first_not_of(" \t"), text_.size())); }
  [[nodiscard]] std::string_view rest() const { return text_; }
  void jump(std::string_view rest) { text_ = rest; }

 private:
  std::string_view text_;
};

/// `TID@SEC.USEC:NAME ...`: the log back end under -msg timestamp=on.
std::optional<TextLead> stamped_log(std::string_view line) {
  Cursor at(line);
  TextLead lead{.has_time = true, .has_tid = true, .rest = {}};
  if (!at.small(lead.tid) || !at.literal("@") || !at.seconds(lead.time_ns) || !at.literal(":")) return std::nullopt;
  lead.rest = at.rest();
  return lead;
}

/// `PID@NS NAME ...`: what SystemTap prints for the log-stap form.
std::optional<TextLead> stap_log(std::string_view line) {
  Cursor at(line);
  TextLead lead{.has_time = true, .has_pid = true, .rest = {}};
  if (!at.small(lead.pid) || !at.literal("@") || !at.number(lead.time_ns) || !at.literal(" ")) return std::nullopt;
  lead.rest = at.rest();
  return lead;
}

/// The task id at the end of `COMM-TID`, or of `COMM-TID (TGID)`, which the kernel prints when asked to.
bool ftrace_task(std::string_view task, uint32_t& tid) {
  const size_t group = task.rfind('(');
  if (group != std::string_view::npos && task.ends_with(')')) task = task.substr(0, task.find_last_not_of(' ', group - 1) + 1);
  const size_t dash = task.rfind('-');
  if (dash == std::string_view::npos) return false;
  Cursor at(task.substr(dash + 1));
  return at.small(tid) && at.rest().empty();
}

/// `COMM-TID [CPU] flags SEC.USEC: tracing_mark_write: NAME ...`, as the kernel or trace-cmd print it (the latter with `print: ` in
/// front): QEMU's events are marks. Events of kvm stand beside them: `... SEC.USEC: kvm_exit: reason ...`.
std::optional<TextLead> ftrace(std::string_view line) {
  const size_t cpu = line.find(" [");
  if (cpu == std::string_view::npos || cpu == 0) return std::nullopt;
  TextLead lead{.has_time = true, .has_tid = true, .rest = {}};
  if (!ftrace_task(line.substr(0, line.find_last_not_of(' ', cpu) + 1), lead.tid)) return std::nullopt;
  // The stamp is the first word that is a time with a colon; flags come before it.
  std::string_view words = line.substr(cpu);
  while (!words.empty()) {
    Cursor at(words);
    at.blanks();
    const std::string_view word = at.rest().substr(0, std::min(at.rest().find(' '), at.rest().size()));
    words = at.rest().substr(word.size());
    Cursor stamp(word);
    if (!stamp.seconds(lead.time_ns) || stamp.rest() != ":") continue;
    constexpr std::string_view kMarker = "tracing_mark_write: ";
    if (const size_t marker = words.find(kMarker); marker != std::string_view::npos) {
      lead.rest = words.substr(marker + kMarker.size());
      return lead;
    }
    Cursor event(words);
    event.blanks();
    if (!event.rest().starts_with("kvm")) return std::nullopt;
    lead.is_host = true;
    lead.rest = event.rest();
    return lead;
  }
  return std::nullopt;
}

uint64_t days_from_civil(uint64_t year, uint64_t month, uint64_t day) {
  // Counts from March, so that the leap day is the last of its year; valid from 1970 on.
  const uint64_t y = month <= 2 ? year - 1 : year;
  const uint64_t shifted = (month + 9) % 12;
  const uint64_t in_year = (153 * shifted + 2) / 5 + day - 1;
  return y * 365 + y / 4 - y / 100 + y / 400 + in_year - 719468;
}

/// `2026-11-29T23:35:01.123456+00:00` or `Nov 29 23:35:01`, which has no year: time is then counted from 1970.
bool syslog_time(Cursor& at, uint64_t& ns) {
  constexpr std::string_view kMonths = "JanFebMarAprMayJunJulAugSepOctNovDec";
  uint64_t year = 1970, month = 0, day = 0, clock = 0, part = 0;
  const size_t named = at.rest().size() > 3 ? kMonths.find(at.rest().substr(0, 3)) : std::string_view::npos;
  if (named != std::string_view::npos && named % 3 == 0) {
    month = named / 3 + 1;
    at.jump(at.rest().substr(3));
    at.blanks();
    if (!at.number(day) || !at.literal(" ") || !at.clock_time(clock)) return false;
  } else {
    if (!at.number(year) || !at.literal("-") || !at.number(month) || !at.literal("-") || !at.number(day) || !at.literal("T"))
      return false;
    if (!at.clock_time(clock)) return false;
    if (at.rest().starts_with('.') && !at.fraction_ns(part)) return false;
    if (const bool plus = at.literal("+"); plus || at.literal("-")) {
      uint64_t h = 0, m = 0;
      if (!at.number(h) || !at.literal(":") || !at.number(m) || h > 14 || m > 59) return false;
      const uint64_t shift = (h * 60 + m) * 60 * kNsPerSecond;
      clock = plus ? clock - shift : clock + shift;  // wraps back when the day is added
    } else {
      (void)at.literal("Z");
    }
  }
  if (year < 1970 || year > 2500 || month < 1 || month > 12 || day < 1 || day > 31) return false;
  ns = days_from_civil(year, month, day) * 86400 * kNsPerSecond + clock + part;
  return true;
}

/// `STAMP HOST IDENT[PID]: NAME ...`
std::optional<TextLead> syslog(std::string_view line) {
  Cursor at(line);
  TextLead lead{.has_time = true, .has_pid = true, .rest = {}};
  if (!syslog_time(at, lead.time_ns) || !at.literal(" ")) return std::nullopt;
  const std::string_view rest = at.rest();
  const size_t close = rest.find("]: ");
  const size_t open = close == std::string_view::npos ? close : rest.rfind('[', close);
  if (open == std::string_view::npos) return std::nullopt;
  Cursor pid(rest.substr(open + 1));
  if (!pid.small(lead.pid) || !pid.literal("]: ")) return std::nullopt;
  lead.rest = pid.rest();
  return lead;
}

/// `[23:35:01.123456789] (+0.000001234) HOST qemu:NAME: { cpu_id = 0 }, { field = 1 }`: babeltrace over LTTng-ust.
std::optional<TextLead> babeltrace(std::string_view line) {
  Cursor at(line);
  TextLead lead{.has_time = true, .rest = {}};
  uint64_t part = 0;
  if (!at.literal("[") || !at.clock_time(lead.time_ns) || !at.fraction_ns(part) || !at.literal("]")) return std::nullopt;
  lead.time_ns += part;
  constexpr std::string_view kProvider = "qemu:";
  const size_t provider = at.rest().find(kProvider);
  if (provider == std::string_view::npos) return std::nullopt;
  lead.rest = at.rest().substr(provider + kProvider.size());
  return lead;
}

std::optional<TextLead> bare(std::string_view line) { return TextLead{.rest = line}; }

}  // namespace

const std::array<TextForm, 6> kTextForms = {{
    {"text of the log back end with time stamps", TraceClock::kRealtime, true, false, stamped_log},
    {"text of SystemTap", TraceClock::kRealtime, true, false, stap_log},
    {"text of babeltrace", TraceClock::kOther, true, true, babeltrace},
    {"text of ftrace", TraceClock::kOther, false, false, ftrace},
    {"text of syslog", TraceClock::kRealtime, false, false, syslog},
    {"text of the log back end without time stamps", TraceClock::kNone, false, false, bare},
}};

}  // namespace qperf::qemutrace
