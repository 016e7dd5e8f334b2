#include "unwind/frame_walk.h"

#include <algorithm>
#include <optional>

namespace qperf::unwind {
namespace {

using capture::StopReason;

constexpr uint64_t kWordBytes = 8;

/// One page's copy at a time: a read through the emulator walks the guest's page tables, a look into the copy costs nothing.
class PageCopy {
 public:
  PageCopy(MemoryReader& memory, const GuestRange& allowed) noexcept : memory_(memory), allowed_(allowed) {}

  /// The little-endian word at an 8-aligned address; nullopt if it may not or cannot be read.
  std::optional<uint64_t> word(GuestVa address) noexcept {
    if (!covers(address) && !fetch(address)) return std::nullopt;
    const auto bytes = copy_.subspan(address.raw - start_.raw, kWordBytes);
    uint64_t value = 0;
    for (size_t i = 0; i < kWordBytes; ++i) value |= std::to_integer<uint64_t>(bytes[i]) << (8 * i);
    return value;
  }

 private:
  [[nodiscard]] bool covers(GuestVa address) const noexcept {
    return copy_.size() >= kWordBytes && address.raw - start_.raw <= copy_.size() - kWordBytes;
  }

  /// Copies from `address` to the end of its page, or of the allowed range if that comes first.
  bool fetch(GuestVa address) noexcept {
    const GuestVa page_last{address.raw | (kPageBytes - 1)};
    const GuestVa last = std::min(page_last, allowed_.last);
    if (!allowed_.contains(address) || last.raw - address.raw < kWordBytes - 1) return false;
    const auto size_bytes = static_cast<size_t>(last.raw - address.raw + 1);
    copy_ = memory_.read(address, size_bytes);
    if (copy_.size() < size_bytes) copy_ = {};
    start_ = address;
    return !copy_.empty();
  }

  MemoryReader& memory_;
  GuestRange allowed_;
  GuestVa start_;
  std::span<const std::byte> copy_;
};

/// Facts and limits put together once a walk, so that the loop reads plainly.
struct Rules {
  const guest::TargetInfo& target;
  const WalkLimits& limits;
  GuestVa sp;

  /// The lower of a frame's two links.
  [[nodiscard]] GuestVa lower_link(GuestVa fp) const noexcept {
    return fp + std::min(target.frame.saved_fp_bytes, target.frame.return_pc_bytes);
  }
  [[nodiscard]] bool aligned(GuestVa fp) const noexcept { return fp.raw % target.frame_pointer_alignment_bytes == 0; }
  [[nodiscard]] bool marks_interrupt(GuestVa fp) const noexcept {
    return target.target == guest::Target::kX86_64 && (fp.raw & 1) != 0;
  }
  /// Differences wrap, so an address below sp counts as far above it.
  [[nodiscard]] bool in_span(GuestVa fp) const noexcept {
    return fp >= sp && lower_link(fp).raw - sp.raw < limits.max_stack_bytes && fp.raw - sp.raw < limits.max_stack_bytes;
  }
  [[nodiscard]] bool is_return_address(GuestVa pc) const noexcept {
    return limits.kernel_range.contains(pc) && pc.raw % target.instruction_alignment_bytes == 0;
  }

  /// Why the chain may not go on from `fp` to `next`; nullopt if it may.
  [[nodiscard]] std::optional<StopReason> refuses(GuestVa fp, GuestVa next) const noexcept {
    if (next.raw == 0) return StopReason::kBottom;
    if (!limits.kernel_range.contains(next)) return StopReason::kLeftStack;
    if (marks_interrupt(next)) return StopReason::kInterruptFrame;
    if (!aligned(next)) return StopReason::kUnaligned;
    // Stacks grow down: a caller's frame lies above. This also ends every cycle.
    if (next <= fp) return StopReason::kNotAscending;
    if (in_span(next)) return std::nullopt;
    return next.raw - fp.raw <= limits.max_stack_bytes ? StopReason::kMaxStackBytes : StopReason::kLeftStack;
  }
};

}  // namespace

WalkResult walk_frames(const WalkLimits& limits, GuestVa sp, GuestVa fp, MemoryReader& memory,
                       std::span<GuestVa> frames) noexcept {
  const Rules rules{guest::info(limits.target), limits, sp};
  if (rules.marks_interrupt(fp) && limits.kernel_range.contains(fp)) return {0, StopReason::kInterruptFrame};
  if (!limits.kernel_range.contains(fp) || !rules.aligned(fp) || !rules.in_span(fp))
    return {0, StopReason::kNoFramePointer};

  PageCopy stack(memory, limits.kernel_range);
  size_t depth = 0;
  while (true) {
    // The lower link first: the page copy starts there and then holds both.
    const auto saved_fp = stack.word(fp + rules.target.frame.saved_fp_bytes);
    const auto saved_pc = stack.word(fp + rules.target.frame.return_pc_bytes);
    if (!saved_fp || !saved_pc) return {depth, StopReason::kUnreadable};
    if (*saved_pc == 0) return {depth, StopReason::kBottom};
    const GuestVa pc = guest::strip_authentication(limits.target, GuestVa{*saved_pc});
    if (!rules.is_return_address(pc)) return {depth, StopReason::kBadReturnAddress};
    if (depth == frames.size()) return {depth, StopReason::kMaxFrames};
    frames[depth++] = pc;
    const GuestVa next{*saved_fp};
    if (const auto stop = rules.refuses(fp, next)) return {depth, *stop};
    fp = next;
  }
}

}  // namespace qperf::unwind
