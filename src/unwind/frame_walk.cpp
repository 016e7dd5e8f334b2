#include "unwind/frame_walk.h"

#include <algorithm>
#include <array>
#include <optional>

namespace qperf::unwind {
namespace {

using capture::StopReason;

constexpr uint64_t kWordBytes = 8;

/// One page's copy at a time: a read through the emulator walks the guest's page tables, a look into the copy costs nothing.
class PageCopy {
 public:
  PageCopy(MemoryReader& memory, const GuestRange& kernel_range) noexcept : memory_(memory), kernel_range_(kernel_range) {}

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

  /// Copies from `address` to the end of its page, or of where stacks may lie if that comes first.
  bool fetch(GuestVa address) noexcept {
    const auto allowed = stack_range_at(kernel_range_, address);
    if (!allowed) return false;
    const GuestVa page_last{address.raw | (kPageBytes - 1)};
    const GuestVa last = std::min(page_last, allowed->last);
    if (last.raw - address.raw < kWordBytes - 1) return false;
    const auto size_bytes = static_cast<size_t>(last.raw - address.raw + 1);
    copy_ = memory_.read(address, size_bytes);
    if (copy_.size() < size_bytes) copy_ = {};
    start_ = address;
    return !copy_.empty();
  }

  MemoryReader& memory_;
  GuestRange kernel_range_;
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
  [[nodiscard]] bool may_be_stack(GuestVa fp) const noexcept { return stack_range_at(limits.kernel_range, fp).has_value(); }
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
    if (!may_be_stack(next)) return StopReason::kLeftStack;
    if (marks_interrupt(next)) return StopReason::kInterruptFrame;
    if (!aligned(next)) return StopReason::kUnaligned;
    // Stacks grow down: a caller's frame lies above. This also ends every cycle.
    if (next <= fp) return StopReason::kNotAscending;
    if (in_span(next)) return std::nullopt;
    return next.raw - fp.raw <= limits.max_stack_bytes ? StopReason::kMaxStackBytes : StopReason::kLeftStack;
  }
};

/// A frame's two links.
struct Links {
  GuestVa next;
  uint64_t return_pc;
};

/// Follows one chain; what walk_frames() says.
class Walk {
 public:
  Walk(const WalkLimits& limits, GuestVa sp, MemoryReader& memory) noexcept
      : rules_{guest::info(limits.target), limits, sp}, pages_(limits.stack_pages), memory_(memory, limits.kernel_range) {}

  WalkResult run(GuestVa fp, std::span<GuestVa> frames) noexcept {
    size_t depth = 0;
    while (true) {
      const auto found = links(fp);
      if (!found) return {depth, StopReason::kUnreadable};
      if (found->return_pc == 0) return {depth, StopReason::kBottom};
      const GuestVa pc = return_address(*found);
      if (!rules_.is_return_address(pc)) return {depth, StopReason::kBadReturnAddress};
      if (depth == frames.size()) return {depth, StopReason::kMaxFrames};
      frames[depth++] = pc;
      if (pages_ != nullptr) pages_->note(rules_.lower_link(fp));
      const auto stop = rules_.refuses(fp, found->next);
      if (stop && !changes_stack(*stop, fp, found->next)) return {depth, *stop};
      fp = found->next;
    }
  }

  [[nodiscard]] const Rules& rules() const noexcept { return rules_; }

 private:
  /// nullopt: not readable.
  std::optional<Links> links(GuestVa fp) noexcept {
    // The lower link first: the page copy starts there and then holds both.
    const auto saved_fp = memory_.word(fp + rules_.target.frame.saved_fp_bytes);
    const auto saved_pc = memory_.word(fp + rules_.target.frame.return_pc_bytes);
    if (!saved_fp || !saved_pc) return std::nullopt;
    return Links{.next = GuestVa{*saved_fp}, .return_pc = *saved_pc};
  }

  [[nodiscard]] GuestVa return_address(const Links& found) const noexcept {
    return guest::strip_authentication(rules_.limits.target, GuestVa{found.return_pc});
  }

  /// The links of a frame on pages that are known to be stack, if they look like a frame's.
  std::optional<Links> known_links(GuestVa fp) noexcept {
    constexpr int64_t kLastByte = 2 * kWordBytes - 1;
    const GuestVa lower = rules_.lower_link(fp);
    if (!rules_.aligned(fp) || !pages_->knows(lower) || !pages_->knows(lower + kLastByte)) return std::nullopt;
    const auto found = links(fp);
    if (!found || !rules_.is_return_address(return_address(*found))) return std::nullopt;
    return found;
  }

  bool changes_stack(StopReason stop, GuestVa fp, GuestVa next) noexcept {
    if (stop != StopReason::kNotAscending && stop != StopReason::kLeftStack) return false;
    if (pages_ == nullptr || changes_ == kMaxStackChanges || !rules_.may_be_stack(next)) return false;
    walked_[changes_] = {rules_.sp, fp};
    // Back to where the walk was already: a cycle.
    for (unsigned i = 0; i <= changes_; ++i)
      if (walked_[i].contains(next)) return false;
    const auto first = known_links(next);
    if (!first || first->next <= next || first->next.raw - next.raw >= rules_.limits.max_stack_bytes) return false;
    if (!known_links(first->next)) return false;
    ++changes_;
    rules_.sp = rules_.lower_link(next);
    return true;
  }

  Rules rules_;
  StackPages* pages_;
  PageCopy memory_;
  unsigned changes_ = 0;
  std::array<GuestRange, kMaxStackChanges + 1> walked_{};  // of each stack, once it is left
};

}  // namespace

WalkResult walk_frames(const WalkLimits& limits, GuestVa sp, GuestVa fp, MemoryReader& memory,
                       std::span<GuestVa> frames) noexcept {
  Walk walk(limits, sp, memory);
  const Rules& rules = walk.rules();
  if (rules.marks_interrupt(fp) && rules.may_be_stack(fp)) return {0, StopReason::kInterruptFrame};
  if (!rules.may_be_stack(fp) || !rules.aligned(fp) || !rules.in_span(fp)) return {0, StopReason::kNoFramePointer};
  return walk.run(fp, frames);
}

}  // namespace qperf::unwind
