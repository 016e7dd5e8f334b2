#include "symbols/prologue.h"

#include <algorithm>
#include <cstring>
#include <vector>

namespace qperf::symbols {
namespace {

// A compiler may put other work between the steps of a prologue, and tracers put a few instructions before it.
constexpr size_t kLookedAtBytes = 96;

template <typename T>
T word_at(std::span<const std::byte> code, size_t offset) noexcept {
  T word = 0;
  std::memcpy(&word, code.data() + offset, sizeof word);
  return word;
}

struct Steps {
  bool keeps_return_address = false;
  bool sets_frame_pointer = false;

  [[nodiscard]] Prologue verdict() const noexcept {
    if (!keeps_return_address) return Prologue::kNoFrame;
    return sets_frame_pointer ? Prologue::kFramePointer : Prologue::kFrameOnly;
  }
};

/// An instruction word is one of a form if the bits under the mask are these.
struct Form {
  uint32_t mask;
  uint32_t bits;
  [[nodiscard]] constexpr bool fits(uint32_t word) const noexcept { return (word & mask) == bits; }
};

// riscv64: ra is x1, sp is x2, s0 (the frame pointer) is x8.
constexpr Form kRiscvStoreRa{0x01fff07f, 0x00113023};  // sd ra, imm(sp)
constexpr Form kRiscvStoreRaShort{0xe07f, 0xe006};     // c.sdsp ra, imm(sp)
constexpr Form kRiscvSetFp{0x000fffff, 0x00010413};    // addi s0, sp, imm
constexpr Form kRiscvSetFpShort{0xe01f, 0x0000};       // c.addi4spn s0, sp, imm (imm not 0)

Steps riscv_steps(std::span<const std::byte> code) noexcept {
  Steps steps;
  for (size_t at = 0; at + 2 <= code.size();) {
    const uint32_t half = word_at<uint16_t>(code, at);
    if ((half & 3) != 3) {
      steps.keeps_return_address |= kRiscvStoreRaShort.fits(half);
      steps.sets_frame_pointer |= kRiscvSetFpShort.fits(half) && half != 0;
      at += 2;
      continue;
    }
    if (at + 4 > code.size()) break;
    const auto word = word_at<uint32_t>(code, at);
    steps.keeps_return_address |= kRiscvStoreRa.fits(word);
    steps.sets_frame_pointer |= kRiscvSetFp.fits(word);
    at += 4;
  }
  return steps;
}

// aarch64: x29 is the frame pointer, x30 the link register, 31 is sp in these forms.
constexpr Form kArmStorePairIndexed{0xffc003e0, 0xa98003e0};  // stp a, b, [sp, imm]!
constexpr Form kArmStorePair{0xffc003e0, 0xa90003e0};         // stp a, b, [sp, imm]
constexpr Form kArmStoreLrIndexed{0xffe00fff, 0xf8000ffe};    // str x30, [sp, imm]!
constexpr Form kArmStoreLr{0xffc003ff, 0xf90003fe};           // str x30, [sp, imm]
constexpr Form kArmSetFp{0xffc003ff, 0x910003fd};             // add x29, sp, imm, which mov is

bool arm_keeps_lr(uint32_t word) noexcept {
  if (kArmStoreLrIndexed.fits(word) || kArmStoreLr.fits(word)) return true;
  if (!kArmStorePair.fits(word) && !kArmStorePairIndexed.fits(word)) return false;
  return (word & 31) == 30 || ((word >> 10) & 31) == 30;
}

// loongarch64: ra is r1, sp is r3, fp is r22.
constexpr Form kLoongStoreRa{0xffc003ff, 0x29c00061};     // st.d ra, sp, imm
constexpr Form kLoongStoreRaFar{0xff0003ff, 0x27000061};  // stptr.d ra, sp, imm
constexpr Form kLoongSetFp{0xffc003ff, 0x02c00076};       // addi.d fp, sp, imm

Steps word_steps(guest::Target target, std::span<const std::byte> code) noexcept {
  Steps steps;
  const bool arm = target == guest::Target::kAarch64;
  for (size_t at = 0; at + 4 <= code.size(); at += 4) {
    const auto word = word_at<uint32_t>(code, at);
    steps.keeps_return_address |= arm ? arm_keeps_lr(word) : kLoongStoreRa.fits(word) || kLoongStoreRaFar.fits(word);
    steps.sets_frame_pointer |= (arm ? kArmSetFp : kLoongSetFp).fits(word);
  }
  return steps;
}

/// Instructions of x86_64 have no fixed places: the bytes of `push rbp; mov rbp, rsp` are looked for, and those of a near call.
Steps x86_steps(std::span<const std::byte> code) noexcept {
  Steps steps;
  for (size_t at = 0; at + 5 <= code.size(); ++at) {
    const auto bytes = word_at<uint32_t>(code, at);
    steps.sets_frame_pointer |= bytes == 0xe5894855 || bytes == 0xec8b4855;
    // A call within 128 MiB: another byte that happens to be e8 seldom has such a distance behind it.
    const auto distance = word_at<int32_t>(code, at + 1);
    steps.keeps_return_address |= (bytes & 0xff) == 0xe8 && distance > -(1 << 27) && distance < (1 << 27);
  }
  steps.keeps_return_address |= steps.sets_frame_pointer;
  return steps;
}

}  // namespace

Prologue judge_prologue(guest::Target target, std::span<const std::byte> code) noexcept {
  const auto begin = code.first(std::min(code.size(), kLookedAtBytes));
  switch (target) {
    case guest::Target::kRiscv64: return riscv_steps(begin).verdict();
    case guest::Target::kAarch64:
    case guest::Target::kLoongarch64: return word_steps(target, begin).verdict();
    case guest::Target::kX86_64: return x86_steps(begin).verdict();
  }
  return Prologue::kNoFrame;
}

PrologueCensus count_prologues(const Image& image, size_t most) {
  PrologueCensus census;
  const auto target = image.target();
  const std::vector<GuestRange> functions = image.functions();
  if (!target || most == 0) return census;
  const size_t stride = functions.size() / most + 1;
  for (size_t i = 0; i < functions.size(); i += stride) {
    const uint64_t size = functions[i].last.raw - functions[i].first.raw + 1;
    const auto code = image.bytes_at(functions[i].first, static_cast<size_t>(std::min<uint64_t>(size, kLookedAtBytes)));
    const Prologue prologue = judge_prologue(*target, code);
    census.with_frame += prologue != Prologue::kNoFrame ? 1 : 0;
    census.framed += prologue == Prologue::kFramePointer ? 1 : 0;
  }
  return census;
}

}  // namespace qperf::symbols
