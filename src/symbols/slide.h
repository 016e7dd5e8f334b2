#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "base/types.h"
#include "symbols/image.h"

namespace qperf::symbols {

/// Instruction bytes seen in the running guest.
struct TextSighting {
  WallNs wall_ns = 0;
  GuestVa address;  // run-time
  std::span<const std::byte> bytes;
};

/// A span of time during which one slide was in force. Run-time address = link-time address + slide_bytes (modulo 2^64).
struct SlideEra {
  WallNs from_ns = 0;  // the first era starts at 0; each ends where the next starts
  uint64_t slide_bytes = 0;
  uint64_t matched = 0;     // sightings of this era whose bytes stand at address - slide
  uint64_t considered = 0;  // sightings of this era that fall into the image's text under the slide
};

/// The verdict of the vote: kernels patch their text, so a few mismatches are normal.
struct SlideVerdict {
  std::vector<SlideEra> eras;  // never empty when `fits`
  bool fits = false;           // enough sightings match: this is the kernel's image
  uint64_t matched = 0;
  uint64_t considered = 0;  // of all sightings
};

/// Finds the slide by vote of the sightings (time-ordered), also where it changes during the capture (a reboot).
/// Candidates are multiples of 64 KiB. With fewer than kLeastSightings the verdict fits with slide 0 and matched = considered =
/// 0.
[[nodiscard]] SlideVerdict vote_slide(const Image& image, std::span<const TextSighting> sightings);

inline constexpr size_t kLeastSightings = 4;

/// Whether `matched` of `considered` sightings in an image's text, out of `sightings`, make it the image that ran: at least
/// kLeastSightings, half of those considered, and a tenth of all considered at all. Kernels patch their text while they boot: of
/// stock kernels 88 to 90 % match on arm64 and riscv64, but 72 % were seen on x86_64, which patches most, by the CPU that it finds.
[[nodiscard]] constexpr bool is_what_ran(uint64_t matched, uint64_t considered, size_t sightings) noexcept {
  return matched >= kLeastSightings && matched * 2 >= considered && considered * 10 >= sightings;
}

}  // namespace qperf::symbols
