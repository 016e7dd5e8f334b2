#include "tools/qperf/disassembly.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/printable.h"
#include "tools/qperf/child_output.h"

namespace qperf::tools {
namespace {

constexpr size_t kMostBytes = size_t{64} << 20;
/// Distributions install it under its version.
constexpr int kNewestLlvm = 22;
constexpr int kOldestLlvm = 14;

std::string_view trimmed(std::string_view text) {
  const size_t first = text.find_first_not_of(" \t");
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(" \t\r") - first + 1);
}

}  // namespace

std::vector<Instruction> parse_disassembly(std::string_view text) {
  std::vector<Instruction> instructions;
  while (!text.empty()) {
    const size_t end = std::min(text.find('\n'), text.size());
    const std::string_view line = trimmed(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
    uint64_t address = 0;
    const auto [after, error] = std::from_chars(line.data(), line.data() + line.size(), address, 16);
    if (error != std::errc() || after == line.data() + line.size() || *after != ':') continue;
    std::string shown = printable(trimmed(std::string_view(after + 1, line.data() + line.size())));
    if (shown.empty()) continue;
    // A tab stands between mnemonic and operands.
    for (size_t tab = shown.find("\\x09"); tab != std::string::npos; tab = shown.find("\\x09")) shown.replace(tab, 4, " ");
    instructions.push_back({GuestVa{address}, std::move(shown)});
  }
  return instructions;
}

Result<std::vector<Instruction>> disassemble(const std::string& elf, GuestVa from, GuestVa to) {
  std::vector<std::string> arguments{"",
                                     "-d",
                                     "--no-show-raw-insn",
                                     "--no-leading-headers",
                                     fmt::format("--start-address={:#x}", from.raw),
                                     fmt::format("--stop-address={:#x}", to.raw),
                                     // Old ones do not know "--": a name must not look like an option.
                                     elf.starts_with('-') ? "./" + elf : elf};
  // The newest knows most machines; the one without a version may be any.
  for (int version = kNewestLlvm; version >= kOldestLlvm - 1; --version) {
    arguments.front() = version >= kOldestLlvm ? fmt::format("llvm-objdump-{}", version) : "llvm-objdump";
    auto text = child_output(arguments, kMostBytes);
    if (text) return parse_disassembly(*text);
    if (text.error().code != ErrorCode::kNotFound) return std::move(text).error();
  }
  return Error{ErrorCode::kNotFound, "llvm-objdump: not installed: --instructions needs it (package llvm)"};
}

}  // namespace qperf::tools
