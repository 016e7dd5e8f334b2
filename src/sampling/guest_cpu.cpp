#include "sampling/guest_cpu.h"

namespace qperf::sampling {

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
