#include "sampling/guest_cpu.h"

namespace qperf::sampling {

std::optional<uint64_t> return_address(const guest::TargetInfo& target, const GuestRange& kernel_range,
                                       std::optional<uint64_t> sp, GuestCpu& cpu) noexcept {
  if (!target.link.empty()) return cpu.link();
  // The return address is on top of the stack until the function has pushed something.
  if (!sp || !unwind::stack_range_at(kernel_range, GuestVa{*sp}) || *sp % 8 != 0) return cpu.link();
  const auto bytes = cpu.read(GuestVa{*sp}, 8);
  if (bytes.size() != 8) return std::nullopt;
  uint64_t word = 0;
  for (size_t i = 0; i < 8; ++i) word |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
  return word;
}

Outside classify_outside(guest::PrivilegeSource source, std::optional<uint64_t> privilege, GuestVa pc,
                         const GuestRange& kernel_range) noexcept {
  const auto user_if = [](bool user) { return user ? Outside::kUser : Outside::kOtherPrivileged; };
  switch (source) {
    case guest::PrivilegeSource::kAddressOnly: return user_if(pc < kernel_range.first);
    case guest::PrivilegeSource::kRiscvPriv: return user_if(privilege && (*privilege & 3) == 0);
    case guest::PrivilegeSource::kAarch64Cpsr: return user_if(privilege && ((*privilege >> 2) & 3) == 0);
    case guest::PrivilegeSource::kX86Cs: return user_if(privilege && (*privilege & 3) == 3);
  }
  return Outside::kOtherPrivileged;
}

}  // namespace qperf::sampling
