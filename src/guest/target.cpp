#include "guest/target.h"

#include <elf.h>

#include <cstddef>

#ifndef EM_LOONGARCH
#define EM_LOONGARCH 258
#endif

namespace qperf::guest {
namespace {

constexpr std::array<TargetInfo, 4> kTargets{{
    {.target = Target::kRiscv64,
     .name = "riscv64",
     .elf_machine = EM_RISCV,
     .frame_pointer = "fp",
     .stack_pointer = "sp",
     .link = "ra",
     .privilege = "priv",
     .privilege_source = PrivilegeSource::kRiscvPriv,
     .arguments = {"a0", "a1", "a2", "a3", "a4", "a5"},
     // fp holds the caller's sp here, so both links lie below it.
     .frame = {.saved_fp_bytes = -16, .return_pc_bytes = -8},
     .instruction_alignment_bytes = 2,
     .frame_pointer_alignment_bytes = 8},
    {.target = Target::kLoongarch64,
     .name = "loongarch64",
     .elf_machine = EM_LOONGARCH,
     .frame_pointer = "r22",
     .stack_pointer = "r3",
     .link = "r1",
     .privilege = "",
     .privilege_source = PrivilegeSource::kAddressOnly,
     .arguments = {"r4", "r5", "r6", "r7", "r8", "r9"},
     .frame = {.saved_fp_bytes = -16, .return_pc_bytes = -8},
     .instruction_alignment_bytes = 4,
     .frame_pointer_alignment_bytes = 8},
    {.target = Target::kAarch64,
     .name = "aarch64",
     .elf_machine = EM_AARCH64,
     .frame_pointer = "x29",
     .stack_pointer = "sp",
     .link = "x30",
     .privilege = "cpsr",
     .privilege_source = PrivilegeSource::kAarch64Cpsr,
     .arguments = {"x0", "x1", "x2", "x3", "x4", "x5"},
     .frame = {.saved_fp_bytes = 0, .return_pc_bytes = 8},
     .instruction_alignment_bytes = 4,
     .frame_pointer_alignment_bytes = 8},
    {.target = Target::kX86_64,
     .name = "x86_64",
     .elf_machine = EM_X86_64,
     .frame_pointer = "rbp",
     .stack_pointer = "rsp",
     .link = "",
     .privilege = "cs",
     .privilege_source = PrivilegeSource::kX86Cs,
     .arguments = {"rdi", "rsi", "rdx", "rcx", "r8", "r9"},
     .frame = {.saved_fp_bytes = 0, .return_pc_bytes = 8},
     .instruction_alignment_bytes = 1,
     .frame_pointer_alignment_bytes = 8},
}};

}  // namespace

std::span<const TargetInfo> all_targets() noexcept { return kTargets; }

const TargetInfo& info(Target target) noexcept { return kTargets[static_cast<size_t>(target) - 1]; }

std::optional<Target> target_by_name(std::string_view name) noexcept {
  for (const auto& entry : kTargets)
    if (entry.name == name) return entry.target;
  return std::nullopt;
}

std::optional<Target> target_by_value(uint8_t value) noexcept {
  for (const auto& entry : kTargets)
    if (static_cast<uint8_t>(entry.target) == value) return entry.target;
  return std::nullopt;
}

std::string_view mode_name(Mode mode) noexcept {
  switch (mode) {
    case Mode::kWall: return "wall";
    case Mode::kIcount: return "icount";
    case Mode::kExact: return "exact";
  }
  return "?";
}

}  // namespace qperf::guest
