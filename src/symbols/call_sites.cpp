#include "symbols/call_sites.h"

#include <cstdint>

namespace qperf::symbols {
namespace {

uint32_t last_u32(std::span<const std::byte> bytes) noexcept {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= std::to_integer<uint32_t>(bytes[bytes.size() - 4 + i]) << (8 * i);
  return value;
}

bool is_riscv_call(std::span<const std::byte> before) noexcept {
  constexpr uint32_t kRa = 1;
  if (before.size() >= 4) {
    const uint32_t word = last_u32(before);
    const uint32_t opcode = word & 0x7f;
    const bool jalr = opcode == 0x67 && ((word >> 12) & 7) == 0;
    if ((opcode == 0x6f || jalr) && ((word >> 7) & 31) == kRa) return true;
  }
  if (before.size() < 2) return false;
  const auto half = std::to_integer<uint32_t>(before[before.size() - 2]) | std::to_integer<uint32_t>(before.back()) << 8;
  // c.jalr rs1: 1001 rs1 00000 10, rs1 not x0 (that is c.ebreak). (c.jal exists on 32-bit only.)
  return (half & 0xf07f) == 0x9002 && (half & 0x0f80) != 0;
}

bool is_loongarch_call(std::span<const std::byte> before) noexcept {
  if (before.size() < 4) return false;
  const uint32_t word = last_u32(before);
  const uint32_t opcode = word >> 26;
  return opcode == 0x15 || (opcode == 0x13 && (word & 31) == 1);  // bl; jirl ra, rj, offset
}

bool is_aarch64_call(std::span<const std::byte> before) noexcept {
  if (before.size() < 4) return false;
  const uint32_t word = last_u32(before);
  if ((word & 0xfc000000) == 0x94000000) return true;  // bl
  if ((word & 0xfffffc1f) == 0xd63f0000) return true;  // blr
  if ((word & 0xfffff81f) == 0xd63f081f) return true;  // blraaz, blrabz
  return (word & 0xfffff800) == 0xd73f0800;            // blraa, blrab
}

/// Length of `call r/m64` (ff /2) that starts at `code[0]`; 0 if it is none.
size_t x86_indirect_length(std::span<const std::byte> code) noexcept {
  size_t at = 0;
  while (at < code.size()) {
    const auto prefix = std::to_integer<unsigned>(code[at]);
    // Segment overrides and notrack (3e), then REX: what compilers and retpoline-free kernels put in front.
    if (prefix != 0x2e && prefix != 0x3e && prefix != 0x64 && prefix != 0x65 && (prefix & 0xf0) != 0x40) break;
    ++at;
  }
  if (at + 2 > code.size() || code[at] != std::byte{0xff}) return 0;
  const auto modrm = std::to_integer<unsigned>(code[at + 1]);
  if (((modrm >> 3) & 7) != 2) return 0;
  const unsigned mode = modrm >> 6;
  const unsigned rm = modrm & 7;
  size_t length = at + 2;
  unsigned base = rm;
  if (mode != 3 && rm == 4) {
    if (length >= code.size()) return 0;
    base = std::to_integer<unsigned>(code[length++]) & 7;
  }
  if (mode == 1) length += 1;
  if (mode == 2 || (mode == 0 && base == 5)) length += 4;
  return length;
}

bool is_x86_call(std::span<const std::byte> before) noexcept {
  if (before.size() >= 5 && before[before.size() - 5] == std::byte{0xe8}) return true;
  // Decoding backwards is a guess: any start whose instruction ends exactly here counts.
  for (size_t length = 2; length <= before.size(); ++length)
    if (x86_indirect_length(before.last(length)) == length) return true;
  return false;
}

}  // namespace

bool ends_with_call(guest::Target target, std::span<const std::byte> before) noexcept {
  switch (target) {
    case guest::Target::kRiscv64: return is_riscv_call(before);
    case guest::Target::kLoongarch64: return is_loongarch_call(before);
    case guest::Target::kAarch64: return is_aarch64_call(before);
    case guest::Target::kX86_64: return is_x86_call(before);
  }
  return false;
}

}  // namespace qperf::symbols
