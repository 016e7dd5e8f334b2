#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/types.h"
#include "capture/records.h"
#include "guest/target.h"
#include "unwind/stack_pages.h"

namespace qperf::unwind {

/// Reads guest memory for a walk: the emulator's interface, or a byte map in tests.
class MemoryReader {
 public:
  virtual ~MemoryReader() = default;
  /// The `size_bytes` bytes at `address`, or an empty span if any of them cannot be read. Never asked to cross a page.
  /// The view lives until the next call.
  virtual std::span<const std::byte> read(GuestVa address, size_t size_bytes) noexcept = 0;
};

/// The memory around `address` in which a stack may lie: the kernel range, and in any case the upper half of the address space,
/// which is no user's on these targets. A kernel range may name its code only. nullopt: no stack there.
[[nodiscard]] constexpr std::optional<GuestRange> stack_range_at(const GuestRange& kernel_range, GuestVa address) noexcept {
  if (guest::kDefaultKernelRange.contains(address)) return guest::kDefaultKernelRange;
  if (kernel_range.contains(address)) return kernel_range;
  return std::nullopt;
}

/// What bounds a walk. All of it comes from the target's facts and the plugin's arguments.
struct WalkLimits {
  guest::Target target = guest::Target::kRiscv64;
  GuestRange kernel_range = guest::kDefaultKernelRange;  // of code: what a return address may be; stacks: stack_range_at()
  uint64_t max_stack_bytes = 0;
  StackPages* stack_pages = nullptr;  // noted and asked; nullptr: the walk stays on the stack that it begins on
};

/// An interrupt's own stack above a task's, and one more for what may interrupt that.
inline constexpr unsigned kMaxStackChanges = 2;

struct WalkResult {
  size_t frames = 0;  // return addresses written
  capture::StopReason stop = capture::StopReason::kBottom;
};

/// Follows the frame-pointer chain from `fp` and fills `frames`, leaf first, with at most frames.size() return addresses.
///
/// The guest's memory is hostile. Guaranteed whatever it holds: no read where no stack may lie (stack_range_at()), no read that
/// is not 8-aligned, every link above the last one on the same stack and at most kMaxStackChanges changes of stack (so every cycle
/// ends), at most one read per stack page and two for a change, at most frames.size() + 1 + kMaxStackChanges links looked at, no
/// allocation.
///
/// A frame pointer counts while it is aligned and its links lie in [sp, sp + max_stack_bytes). For the first one anything else
/// means that the code keeps none: kNoFramePointer, no frames. After that, a next pointer that
///  - is zero, or beside a zero return address: kBottom;
///  - has its low bit set on x86_64: kInterruptFrame, the mark that Linux's exception entry leaves;
///  - lies where no stack may: kLeftStack (a user's register at a system call);
///  - is unaligned: kUnaligned;
///  - lies at or beyond sp + max_stack_bytes, no further from the current frame than max_stack_bytes, as the next frame of one
///    deep stack would be: kMaxStackBytes;
///  - lies further above: kLeftStack (garbage, or another stack);
///  - does not lie above the current one: kNotAscending.
/// Where the last two would end the walk, it goes on on another stack (an interrupt handler's caller is on the task's) if the
/// next two frames look right there: aligned, ascending, less than max_stack_bytes apart, with return addresses, and all of it
/// on pages that `stack_pages` knows. Nothing else is read: it might be a device. The new frame is the new
/// stack's lower bound.
/// A return address outside the kernel range or not aligned as an instruction is dropped and ends the walk:
/// kBadReturnAddress. Cost: one page read (about 0.3 us) and some ns a frame.
WalkResult walk_frames(const WalkLimits& limits, GuestVa sp, GuestVa fp, MemoryReader& memory,
                       std::span<GuestVa> frames) noexcept;

}  // namespace qperf::unwind
