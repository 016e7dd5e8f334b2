#pragma once

#include <string>
#include <vector>

#include "base/result.h"
#include "base/types.h"

namespace qperf::tools {

struct Instruction {
  GuestVa address;
  std::string text;  // printable
};

/// The instructions of `elf` in [from, to), link-time addresses, by llvm-objdump. Error: kNotFound if none is installed.
[[nodiscard]] Result<std::vector<Instruction>> disassemble(const std::string& elf, GuestVa from, GuestVa to);

/// What of llvm-objdump's output is an instruction ("ffffffff80000010:  addi sp, sp, -16"); other lines are passed over.
[[nodiscard]] std::vector<Instruction> parse_disassembly(std::string_view text);

}  // namespace qperf::tools
