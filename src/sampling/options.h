#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "base/result.h"
#include "base/types.h"
#include "guest/target.h"

namespace qperf::sampling {

/// Which trace events keep the stack that emitted them.
enum class TraceStacks : uint8_t { kNone, kBlock, kAll };

/// The plugin's arguments, checked. Defaults and limits are rows of option_table().
struct Options {
  guest::Mode mode = guest::Mode::kWall;
  uint64_t freq_hz = 0;
  uint64_t period_insns = 0;
  uint64_t jitter_percent = 0;
  std::string out_path;
  GuestRange kernel_range = guest::kDefaultKernelRange;
  uint64_t max_frames = 0;
  uint64_t max_stack_bytes = 0;
  uint64_t queue_samples = 0;
  uint64_t event_queue = 0;
  std::string elf_path;        // empty: not given
  std::string control_path;    // empty: no control socket
  std::optional<GuestVa> trace_address;
  bool trace_auto = false;     // the address is that of the marker's symbol in elf_path
  TraceStacks trace_stacks = TraceStacks::kBlock;
  bool help = false;
  std::string warnings;        // one line each; arguments that have no effect in this mode
};

enum class OptionKind : uint8_t { kMode, kNumber, kPath, kRange, kAddress, kStacks, kFlag };

/// One argument: parser, help text and documentation are made from these rows.
struct OptionRow {
  std::string_view name;
  OptionKind kind;
  std::string_view value_name;  // "HZ" in freq=HZ
  std::string_view default_text;
  uint64_t least = 0;     // kNumber
  uint64_t greatest = 0;  // kNumber
  std::optional<guest::Mode> only_mode;
  std::string_view help;
  uint64_t Options::*number = nullptr;   // kNumber
  std::string Options::*path = nullptr;  // kPath
};

[[nodiscard]] std::span<const OptionRow> option_table() noexcept;

/// Parses `arguments` ("name=value" each, as QEMU hands them over). The message names the argument and what is allowed.
[[nodiscard]] Result<Options> parse_options(std::span<const std::string_view> arguments, guest::Target target);

/// The text that help=on prints: one line an argument, with default, least and greatest value.
[[nodiscard]] std::string option_help();

}  // namespace qperf::sampling
