#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "qemutrace/event.h"

namespace qperf::qemutrace {

/// What a line of text says before the event itself.
struct TextLead {
  uint64_t time_ns = 0;
  uint32_t pid = 0;
  uint32_t tid = 0;
  bool has_time = false;
  bool has_pid = false;
  bool has_tid = false;
  bool is_host = false;   // an event of the host's kernel beside QEMU's (ftrace): its text stands for its fields
  std::string_view rest;  // "NAME text as the format has it"; of babeltrace "NAME: { ... }, { ... }"
};

/// One way in which a back end or a tool puts QEMU's events into lines.
struct TextForm {
  std::string_view description;
  TraceClock clock;
  bool certain;  // the lead itself says that an event follows: an unknown name is then an undeclared event, not another line
  bool fields;   // babeltrace: fields by name, no format string
  std::optional<TextLead> (*parse)(std::string_view line);
};

/// Most telling first; the last, a bare line, always parses.
extern const std::array<TextForm, 6> kTextForms;

}  // namespace qperf::qemutrace
