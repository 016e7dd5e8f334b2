#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "base/types.h"

namespace qperf::guest {

/// The guest architectures that are profiled. Values are stored in captures: never renumber.
enum class Target : uint8_t { kRiscv64 = 1, kLoongarch64 = 2, kAarch64 = 3, kX86_64 = 4 };

/// Where a frame keeps its two links, in bytes from the frame pointer.
struct FrameLayout {
  int8_t saved_fp_bytes;
  int8_t return_pc_bytes;
};

/// How the privilege of the running code can be told inside a plugin callback.
enum class PrivilegeSource : uint8_t {
  kRiscvPriv,    // register `priv`: 0 user, 1 supervisor, 3 machine
  kAarch64Cpsr,  // register `cpsr` bits 3:2: 0 user, 1 kernel, 2 and 3 hypervisor and firmware
  kX86Cs,        // register `cs` bits 1:0: 3 user
  kAddressOnly,  // no such register: below the kernel range counts as user
};

/// Everything that differs between targets and is a fact, not code.
struct TargetInfo {
  Target target;
  std::string_view name;           // as QEMU's plugin interface and qemu-system-* spell it
  uint16_t elf_machine;            // e_machine of a kernel for it
  std::string_view frame_pointer;  // register names as GDB and QEMU spell them
  std::string_view stack_pointer;
  std::string_view link;       // empty: the return address is at [sp] (x86_64)
  std::string_view privilege;  // empty with kAddressOnly
  PrivilegeSource privilege_source;
  std::array<std::string_view, 6> arguments;  // first six integer argument registers
  FrameLayout frame;
  uint8_t instruction_alignment_bytes;  // 1 for x86_64, 2 for riscv64 (compressed), else 4
  uint8_t frame_pointer_alignment_bytes;
};

/// All targets, in the order of their values.
[[nodiscard]] std::span<const TargetInfo> all_targets() noexcept;

[[nodiscard]] const TargetInfo& info(Target target) noexcept;

/// `name` as QEMU spells it ("riscv64"); nullopt for any other target.
[[nodiscard]] std::optional<Target> target_by_name(std::string_view name) noexcept;

/// A value read from an untrusted file; nullopt if no target has it.
[[nodiscard]] std::optional<Target> target_by_value(uint8_t value) noexcept;

/// A return address without the authentication bits that aarch64 may have put in it; others unchanged.
/// Kernel addresses only: the bits above the 48-bit address are set to ones where bit 55 is one.
[[nodiscard]] constexpr GuestVa strip_authentication(Target target, GuestVa address) noexcept {
  if (target != Target::kAarch64) return address;
  constexpr uint64_t kSelectsKernelHalf = uint64_t{1} << 55;
  constexpr uint64_t kUpperBits = uint64_t{0xffff} << 48;
  return GuestVa{(address.raw & kSelectsKernelHalf) != 0 ? address.raw | kUpperBits : address.raw & ~kUpperBits};
}

/// What `mode` says about when samples are taken. Values are stored in captures.
enum class Mode : uint8_t { kWall = 1, kIcount = 2, kExact = 3 };

[[nodiscard]] std::string_view mode_name(Mode mode) noexcept;

/// The kernel range when nothing else is said: the upper half of the address space.
inline constexpr GuestRange kDefaultKernelRange{GuestVa{0x8000000000000000}, GuestVa{0xffffffffffffffff}};

}  // namespace qperf::guest
