#pragma once

#include <cstdint>
#include <optional>

#include "unwind/frame_walk.h"

namespace qperf::sampling {

/// The running vCPU as a callback sees it. Implemented by the emulator's glue, by hand in tests.
/// vCPU thread only, inside a callback that may read registers; allocates nothing after its first use.
class GuestCpu : public unwind::MemoryReader {
 public:
  virtual std::optional<uint64_t> frame_pointer() noexcept = 0;
  virtual std::optional<uint64_t> stack_pointer() noexcept = 0;
  virtual std::optional<uint64_t> link() noexcept = 0;       // nullopt on x86_64
  virtual std::optional<uint64_t> privilege() noexcept = 0;  // the raw register; nullopt where there is none
  /// Integer argument register 0..5 of the calling convention; nullopt where nobody asked for them.
  virtual std::optional<uint64_t> argument(size_t) noexcept { return std::nullopt; }
};

/// Where the running function returns to while its prologue has not run: the link register, or the word at `sp` on x86_64.
[[nodiscard]] std::optional<uint64_t> return_address(const guest::TargetInfo& target, const GuestRange& kernel_range,
                                                     std::optional<uint64_t> sp, GuestCpu& cpu) noexcept;

/// Which bucket a tick belongs to that was taken outside the kernel's addresses.
enum class Outside : uint8_t { kUser, kOtherPrivileged };

/// `privilege` as GuestCpu gives it, `pc` the block's address. A register that could not be read counts as other-privileged,
/// so that no time is called the user's without evidence.
[[nodiscard]] Outside classify_outside(guest::PrivilegeSource source, std::optional<uint64_t> privilege, GuestVa pc,
                                       const GuestRange& kernel_range) noexcept;

}  // namespace qperf::sampling
