#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/capture_input.h"
#include "analysis/elf_argument.h"
#include "analysis/message.h"
#include "base/result.h"
#include "base/types.h"
#include "symbols/image.h"
#include "symbols/slide.h"

namespace qperf::analysis {

/// What to do with an ELF that is not what ran.
enum class Mismatch : uint8_t { kRefuse, kUseAnyway };

/// A link-time address of one of the images.
struct PlacedAddress {
  uint32_t image = 0;
  GuestVa address;

  friend bool operator==(PlacedAddress, PlacedAddress) = default;
};

/// The ELFs of a capture, each at the place where the guest had it. A guest that reboots may have a kernel elsewhere
/// afterwards: each span of time with one placement is an era.
class ImageSet {
 public:
  /// Opens the ELFs (or, with none given, the one that the capture names) and lets the capture's code fingerprints vote where
  /// they lie and whether they are the ones that ran. What was found goes to `messages`.
  [[nodiscard]] static Result<ImageSet> open(std::span<const ElfArgument> elfs, const CaptureInput& input, Mismatch mismatch,
                                             Messages& messages);

  [[nodiscard]] size_t size() const noexcept { return images_.size(); }
  [[nodiscard]] const symbols::Image& operator[](uint32_t image) const noexcept { return images_[image].image; }

  /// Number of eras, at least 1.
  [[nodiscard]] size_t eras() const noexcept { return era_starts_.size(); }
  [[nodiscard]] uint32_t era_at(WallNs wall_ns) const noexcept;

  /// Which image's text the run-time address lies in, the first one given that has it; nullopt: none.
  [[nodiscard]] std::optional<PlacedAddress> place(uint32_t era, GuestVa address) const noexcept;

 private:
  struct Placed {
    symbols::Image image;
    std::vector<symbols::SlideEra> eras;  // never empty
    std::vector<uint64_t> slides;         // by era of the set
  };

  void join_eras();

  std::vector<Placed> images_;
  std::vector<WallNs> era_starts_;
};

}  // namespace qperf::analysis
