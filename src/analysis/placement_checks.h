#pragma once

#include <optional>
#include <span>
#include <string>

#include "analysis/capture_input.h"
#include "analysis/message.h"
#include "base/types.h"

namespace qperf::symbols {
class Image;
}

namespace qperf::analysis {

class ImageSet;

/// What the fingerprints say of one ELF.
struct Judgement {
  const symbols::Image* image = nullptr;
  bool fits = false;
  uint64_t matched = 0;
  uint64_t considered = 0;
};

/// A kernel that was built anew since, or before, the recording.
struct OtherBuild {
  std::string text;        // without what to do about it
  bool unanimous = false;  // every fingerprint in its text matches all the same
};

/// Whether the ELFs that fit are builds other than the one that the capture names; nullopt: the recorded one is among all, or one
/// of those that fit has no build-id, or none is recorded.
[[nodiscard]] std::optional<OtherBuild> find_other_build(std::span<const Judgement> judgements, const CaptureInput& input);

/// How many fingerprints lie in no ELF's text, and a warning where most of the last ones do: a vote that cannot place them cannot
/// see that the kernel moved.
void describe_unplaced(const CaptureInput& input, const ImageSet& images, Messages& messages);

/// An ELF's text and where it lay.
struct PlacedText {
  std::string path;
  std::span<const GuestRange> linked;  // ascending
  std::span<const uint64_t> slides;    // by era, as many for each ELF
};

/// A warning for each pair of ELFs whose text lies in one place at one time.
void warn_of_overlaps(std::span<const PlacedText> elfs, Messages& messages);

/// Whether an ELF moved to where its own text had been: there an address means two things, and only the time tells which.
[[nodiscard]] bool moved_onto_old_text(std::span<const PlacedText> elfs);

}  // namespace qperf::analysis
