#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "guest/target.h"
#include "symbols/image.h"

namespace qperf::symbols {

/// What the first instructions of a function do about its frame.
enum class Prologue : uint8_t {
  kNoFrame,       // saves no return address there: a leaf, or not told
  kFramePointer,  // keeps the return address and sets the frame pointer up
  kFrameOnly,     // keeps the return address, but no frame pointer: a walk cannot pass through it
};

/// Looks at a function's bytes, from its first one on. x86_64, where the call itself keeps the return address, needs a call in
/// `code` to tell kFrameOnly from a leaf.
[[nodiscard]] Prologue judge_prologue(guest::Target target, std::span<const std::byte> code) noexcept;

/// How many functions of an image keep frame pointers.
struct PrologueCensus {
  uint64_t framed = 0;  // of the functions with a frame: those with a frame pointer
  uint64_t with_frame = 0;
};

/// At most `most` functions are looked at, spread evenly. All zero without symbols or for a machine that is not profiled.
[[nodiscard]] PrologueCensus count_prologues(const Image& image, size_t most);

}  // namespace qperf::symbols
