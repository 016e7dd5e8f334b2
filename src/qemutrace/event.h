#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "qemutrace/declarations.h"
#include "qemutrace/format.h"

namespace qperf::qemutrace {

/// The values of one record: QEMU's limit and the vCPU that old versions put in front.
inline constexpr size_t kMaxValues = kMaxArguments + 1;

/// The name under which QEMU's script prints a record of lost events.
inline constexpr std::string_view kDroppedEventName = "Dropped_Event";

/// What a trace knows of one event. One object per name and trace; stays where it is while the source lives.
struct EventInfo {
  std::string name;
  const Declaration* declaration = nullptr;  // null: the events file does not declare it, its values cannot be told
  std::span<const Argument> arguments;       // what values mean, in order
  uint32_t index = 0;                        // dense, from 0: an index into per-event tables

  [[nodiscard]] std::optional<size_t> argument_index(std::string_view argument_name) const noexcept;
};

/// Which clock stamped the events; see docs/trace-formats.md.
enum class TraceClock : uint8_t { kNone, kMonotonic, kRealtime, kOther };

/// Whether an event's values may be used.
enum class ValueState : uint8_t {
  kDecoded,
  kUndeclared,  // no declaration for the name
  kMismatch,    // the payload does not fit the declaration
};

/// One record. A source reuses the object: values and strings live until its next call.
struct Event {
  const EventInfo* info = nullptr;
  uint64_t time_ns = 0;  // of the trace's clock
  uint32_t pid = 0;      // of QEMU
  uint32_t tid = 0;      // only text of the log back end and of ftrace has it
  bool has_time = true;
  bool has_pid = true;
  bool has_tid = false;
  ValueState state = ValueState::kDecoded;
  uint8_t value_count = 0;
  uint16_t missing = 0;  // bit i: argument i is declared, but this form of trace does not show it
  bool is_loss = false;  // not an event: value 0 is how many were lost here
  std::array<Value, kMaxValues> values;

  [[nodiscard]] std::string_view name() const noexcept { return info->name; }
  /// A field by its declared name. nullopt: no such field, or not readable; number() of a string is nullopt too.
  [[nodiscard]] std::optional<uint64_t> number(std::string_view field) const noexcept;
  [[nodiscard]] std::optional<int64_t> signed_number(std::string_view field) const noexcept;
  [[nodiscard]] std::optional<std::string_view> string(std::string_view field) const noexcept;
  [[nodiscard]] bool has_value(size_t index) const noexcept { return index < value_count && (missing >> index & 1U) == 0; }
};

}  // namespace qperf::qemutrace
