#include "symbols/call_sites.h"

#include <cstdint>

namespace qperf::symbols {
namespace {

uint32_t last_u32(std::span<const std::byte> bytes) noexcept {
  uint32_t value = 0;
  for (size_t i = 0; i < 4; ++i) value |= std::to_integer<uint32_t>(bytes[bytes.size() - 4 + i]) << (8 * i);
  return value;
}

/// The lowest `bits` of a word as a signed number.
int64_t sign_extended(uint64_t word, unsigned bits) noexcept {
  const uint64_t sign = uint64_t{1} << (bits - 1);
  const uint64_t value = word & ((sign << 1) - 1);
  return static_cast<int64_t>((value ^ sign) - sign);
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

std::optional<GuestVa> riscv_target(std::span<const std::byte> before, GuestVa address) noexcept {
  if (before.size() < 4) return std::nullopt;
  const uint32_t word = last_u32(before);
  const bool to_ra = ((word >> 7) & 31) == 1;
  if ((word & 0x7f) == 0x6f && to_ra) {  // jal ra
    const uint64_t offset = ((word >> 31) & 1) << 20 | ((word >> 12) & 0xff) << 12 | ((word >> 20) & 1) << 11 | ((word >> 21) & 0x3ff) << 1;
    return address - 4 + sign_extended(offset, 21);
  }
  if ((word & 0x707f) != 0x67 || !to_ra || before.size() < 8) return std::nullopt;
  const uint32_t first = last_u32(before.first(before.size() - 4));
  const bool pair = (first & 0x7f) == 0x17 && ((first >> 7) & 31) == ((word >> 15) & 31);  // auipc r; jalr ra, offset(r)
  if (!pair) return std::nullopt;
  return address - 8 + sign_extended(first & 0xfffff000, 32) + sign_extended(word >> 20, 12);
}

std::optional<GuestVa> loongarch_target(std::span<const std::byte> before, GuestVa address) noexcept {
  if (before.size() < 4) return std::nullopt;
  const uint32_t word = last_u32(before);
  if (word >> 26 == 0x15)  // bl
    return address - 4 + sign_extended(((word & 0x3ff) << 16 | ((word >> 10) & 0xffff)), 26) * 4;
  if (word >> 26 != 0x13 || (word & 31) != 1 || before.size() < 8) return std::nullopt;
  const uint32_t first = last_u32(before.first(before.size() - 4));
  const bool pair = first >> 25 == 0x0f && (first & 31) == ((word >> 5) & 31);  // pcaddu18i r, high; jirl ra, r, low
  if (!pair) return std::nullopt;
  return address - 8 + sign_extended(first >> 5, 20) * (1 << 18) + sign_extended(word >> 10, 16) * 4;
}

std::optional<GuestVa> aarch64_target(std::span<const std::byte> before, GuestVa address) noexcept {
  if (before.size() < 4) return std::nullopt;
  const uint32_t word = last_u32(before);
  if ((word & 0xfc000000) != 0x94000000) return std::nullopt;  // bl
  return address - 4 + sign_extended(word, 26) * 4;
}

std::optional<GuestVa> x86_target(std::span<const std::byte> before, GuestVa address) noexcept {
  if (before.size() < 5 || before[before.size() - 5] != std::byte{0xe8}) return std::nullopt;
  return address + sign_extended(last_u32(before), 32);
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

std::optional<GuestVa> direct_call_target(guest::Target target, std::span<const std::byte> before, GuestVa address) noexcept {
  switch (target) {
    case guest::Target::kRiscv64: return riscv_target(before, address);
    case guest::Target::kLoongarch64: return loongarch_target(before, address);
    case guest::Target::kAarch64: return aarch64_target(before, address);
    case guest::Target::kX86_64: return x86_target(before, address);
  }
  return std::nullopt;
}

}  // namespace qperf::symbols
