#include "sampling/options.h"

#include <fmt/core.h>

#include <array>
#include <charconv>
#include <set>

#include "base/printable.h"
#include "capture/limits.h"
#include "guest/trace_events.h"
#include "sampling/elf_symbol.h"

namespace qperf::sampling {
namespace {

using guest::Mode;

constexpr std::array<OptionRow, 14> kTable{{
    {.name = "mode",
     .kind = OptionKind::kMode,
     .value_name = "wall|icount|exact",
     .default_text = "wall",
     .only_mode = {},
     .help = "what takes a sample: the host's clock, the guest's kernel instructions, or nothing (exact block counts)"},
    {.name = "freq",
     .kind = OptionKind::kNumber,
     .value_name = "HZ",
     .default_text = "99",
     .least = 1,
     .greatest = 10000,
     .only_mode = Mode::kWall,
     .help = "ticks per second and vCPU",
     .number = &Options::freq_hz},
    {.name = "period",
     .kind = OptionKind::kNumber,
     .value_name = "N",
     .default_text = "100000",
     .least = 1000,
     .greatest = 1000000000000,
     .only_mode = Mode::kIcount,
     .help = "guest kernel instructions between two samples of a vCPU",
     .number = &Options::period_insns},
    {.name = "jitter",
     .kind = OptionKind::kNumber,
     .value_name = "PERCENT",
     .default_text = "0",
     .least = 0,
     .greatest = 100,
     .only_mode = Mode::kIcount,
     .help = "draw each gap evenly from period -/+ PERCENT, against aliasing with periodic guests",
     .number = &Options::jitter_percent},
    {.name = "out",
     .kind = OptionKind::kPath,
     .value_name = "FILE",
     .default_text = "qperf.bin",
     .only_mode = {},
     .help = "the capture; locked, so that a second writer is refused",
     .path = &Options::out_path},
    {.name = "kernel",
     .kind = OptionKind::kRange,
     .value_name = "LO:HI",
     .default_text = "0x8000000000000000:0xffffffffffffffff",
     .only_mode = {},
     .help = "the kernel's code, both ends inclusive; its stacks may lie inside or anywhere in the upper half"},
    {.name = "max_frames",
     .kind = OptionKind::kNumber,
     .value_name = "N",
     .default_text = "128",
     .least = 1,
     .greatest = capture::kMaxFramesPerSample,
     .only_mode = {},
     .help = "return addresses kept of a stack",
     .number = &Options::max_frames},
    {.name = "max_stack_bytes",
     .kind = OptionKind::kNumber,
     .value_name = "N",
     .default_text = "1048576",
     .least = 1024,
     .greatest = uint64_t{64} << 20,
     .only_mode = {},
     .help = "how far above the stack pointer a frame pointer counts",
     .number = &Options::max_stack_bytes},
    {.name = "queue",
     .kind = OptionKind::kNumber,
     .value_name = "N",
     .default_text = "4096",
     .least = 1,
     .greatest = 1048576,
     .only_mode = {},
     .help = "samples a vCPU may have waiting for the writer; more are dropped and counted",
     .number = &Options::queue_samples},
    {.name = "event_queue",
     .kind = OptionKind::kNumber,
     .value_name = "N",
     .default_text = "16384",
     .least = 1,
     .greatest = 1048576,
     .only_mode = {},
     .help = "trace events a vCPU may have waiting for the writer",
     .number = &Options::event_queue},
    {.name = "elf",
     .kind = OptionKind::kPath,
     .value_name = "PATH",
     .default_text = "",
     .only_mode = {},
     .help = "the kernel's ELF, recorded so that readers find it",
     .path = &Options::elf_path},
    {.name = "control",
     .kind = OptionKind::kPath,
     .value_name = "SOCKET",
     .default_text = "",
     .only_mode = {},
     .help = "start switched off and take start, stop, status, exit or quit from this Unix socket, one a line",
     .path = &Options::control_path},
    {.name = "trace",
     .kind = OptionKind::kAddress,
     .value_name = "ADDRESS|auto",
     .default_text = "",
     .only_mode = {},
     .help = "the guest's trace marker function, whose executions are recorded as events; auto: its symbol in elf="},
    {.name = "trace_stacks",
     .kind = OptionKind::kStacks,
     .value_name = "block|all|none",
     .default_text = "block",
     .only_mode = {},
     .help = "events that keep their stack: block, also wake, switch and enqueue, or none"},
}};

/// Decimal, or hexadecimal after 0x. The whole text or nothing.
std::optional<uint64_t> parse_number(std::string_view text) {
  int base = 10;
  if (text.starts_with("0x") || text.starts_with("0X")) {
    text.remove_prefix(2);
    base = 16;
  }
  uint64_t number = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), number, base);
  if (code != std::errc{} || end != text.data() + text.size() || text.empty()) return std::nullopt;
  return number;
}

Error bad(const OptionRow& row, std::string_view value, std::string_view allowed) {
  return Error{ErrorCode::kUsage, fmt::format("{}={}: {}", row.name, printable(value), allowed)};
}

Result<void> set_number(Options& options, const OptionRow& row, std::string_view value) {
  const auto allowed = fmt::format("a whole number from {} to {} is allowed", row.least, row.greatest);
  const auto number = parse_number(value);
  if (!number) return bad(row, value, "not a number; " + allowed);
  if (*number < row.least) return bad(row, value, "too small; " + allowed);
  if (*number > row.greatest) return bad(row, value, "too large; " + allowed);
  options.*row.number = *number;
  return {};
}

Result<void> set_range(Options& options, const OptionRow& row, std::string_view value) {
  constexpr std::string_view kAllowed = "LO:HI with two addresses is allowed, both inclusive, LO not above HI";
  const auto colon = value.find(':');
  if (colon == std::string_view::npos) return bad(row, value, kAllowed);
  const auto first = parse_number(value.substr(0, colon));
  const auto last = parse_number(value.substr(colon + 1));
  if (!first || !last) return bad(row, value, kAllowed);
  if (*first > *last) return bad(row, value, fmt::format("LO is above HI; {}", kAllowed));
  options.kernel_range = {GuestVa{*first}, GuestVa{*last}};
  return {};
}

Result<void> set_value(Options& options, const OptionRow& row, std::string_view value) {
  switch (row.kind) {
    case OptionKind::kMode:
      for (const Mode mode : {Mode::kWall, Mode::kIcount, Mode::kExact})
        if (value == guest::mode_name(mode)) {
          options.mode = mode;
          return {};
        }
      return bad(row, value, "wall, icount or exact is allowed");
    case OptionKind::kNumber: return set_number(options, row, value);
    case OptionKind::kPath:
      if (value.empty()) return bad(row, value, "a path is needed");
      if (value.find('\0') != std::string_view::npos) return bad(row, value, "a path has no zero byte");
      options.*row.path = std::string(value);
      return {};
    case OptionKind::kRange: return set_range(options, row, value);
    case OptionKind::kStacks:
      if (value != "block" && value != "all" && value != "none") return bad(row, value, "block, all or none is allowed");
      options.trace_stacks = value == "block" ? TraceStacks::kBlock : value == "all" ? TraceStacks::kAll : TraceStacks::kNone;
      return {};
    case OptionKind::kAddress: {
      options.trace_auto = value == "auto";
      if (options.trace_auto) return {};
      const auto address = parse_number(value);
      if (!address) return bad(row, value, "an address is needed, such as 0xffffffff80201000, or auto");
      options.trace_address = GuestVa{*address};
      return {};
    }
    case OptionKind::kFlag: return {};
  }
  return {};
}

/// trace=auto: the address of the marker's symbol.
Result<void> find_marker(Options& options) {
  if (!options.trace_auto) return {};
  if (options.elf_path.empty())
    return Error{ErrorCode::kUsage, "trace=auto: looks the marker up in the kernel's ELF; give elf=PATH, too"};
  QPERF_ASSIGN_OR_RETURN(const auto address, find_elf_symbol(options.elf_path, guest::kTraceMarkerSymbol));
  if (!address)
    return Error{ErrorCode::kUsage, fmt::format("trace=auto: elf={} has no symbol {}; build the kernel with its trace marker, or "
                                                "give the marker's address",
                                                printable(options.elf_path), guest::kTraceMarkerSymbol)};
  options.trace_address = *address;
  return {};
}

/// trace= depends on two other arguments, so it is judged last.
Result<void> check_trace(const Options& options, guest::Target target) {
  if (!options.trace_address) return {};
  const uint64_t address = options.trace_address->raw;
  if (!options.kernel_range.contains(*options.trace_address))
    return Error{ErrorCode::kUsage, fmt::format("trace={:#x}: outside kernel={:#x}:{:#x}", address,
                                                options.kernel_range.first.raw, options.kernel_range.last.raw)};
  const unsigned alignment = guest::info(target).instruction_alignment_bytes;
  if (address % alignment != 0)
    return Error{ErrorCode::kUsage, fmt::format("trace={:#x}: no instruction of {} starts there, a multiple of {} is needed",
                                                address, guest::info(target).name, alignment)};
  return {};
}

std::string known_names() {
  std::string names;
  for (const auto& row : kTable) names += fmt::format("{}, ", row.name);
  return names + "help";
}

}  // namespace

std::span<const OptionRow> option_table() noexcept { return kTable; }

Result<Options> parse_options(std::span<const std::string_view> arguments, guest::Target target) {
  Options options;
  for (const auto& row : kTable)
    if (!row.default_text.empty()) QPERF_RETURN_IF_ERROR(set_value(options, row, row.default_text));

  std::set<std::string_view> given;
  for (const std::string_view argument : arguments) {
    const auto equals = argument.find('=');
    const std::string_view name = argument.substr(0, equals);
    const std::string_view value = equals == std::string_view::npos ? std::string_view{} : argument.substr(equals + 1);
    if (name == "help") {
      options.help = true;
      continue;
    }
    const OptionRow* found = nullptr;
    for (const auto& row : kTable)
      if (row.name == name) found = &row;
    if (found == nullptr)
      return Error{ErrorCode::kUsage, fmt::format("{}: no such argument; allowed are {}", printable(name), known_names())};
    if (!given.insert(found->name).second)
      return Error{ErrorCode::kUsage, fmt::format("{}: given twice", found->name)};
    QPERF_RETURN_IF_ERROR(set_value(options, *found, value));
  }
  for (const auto& row : kTable)
    if (row.only_mode && *row.only_mode != options.mode && given.contains(row.name))
      options.warnings += fmt::format("{}= has no effect in mode={}, only in mode={}\n", row.name,
                                      guest::mode_name(options.mode), guest::mode_name(*row.only_mode));
  if (options.help) return options;
  QPERF_RETURN_IF_ERROR(find_marker(options));
  QPERF_RETURN_IF_ERROR(check_trace(options, target));
  if (options.trace_address && options.mode == Mode::kExact)
    options.warnings += "trace= records no events in mode=exact, only in mode=wall and mode=icount\n";
  return options;
}

std::string option_help() {
  std::string text = "arguments of the qperf plugin: -plugin libqperf.so[,name=value...]\n";
  for (const auto& row : kTable) {
    text += fmt::format("  {:<26} {}", fmt::format("{}={}", row.name, row.value_name), row.help);
    if (row.kind == OptionKind::kNumber) text += fmt::format("; {} to {}", row.least, row.greatest);
    if (!row.default_text.empty()) text += fmt::format(" [{}]", row.default_text);
    text += '\n';
  }
  return text + "  help=on                    this text; QEMU does not start\n";
}

}  // namespace qperf::sampling
