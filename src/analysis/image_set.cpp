#include "analysis/image_set.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <utility>

#include "analysis/placement_checks.h"
#include "base/printable.h"
#include "capture/header_keys.h"

namespace qperf::analysis {
namespace {

/// How many of the sightings stand where one slide for the whole capture puts them.
struct Agreement {
  uint64_t matched = 0;
  uint64_t considered = 0;

  /// Enough of the image's own text was seen, and most of it reads differently.
  [[nodiscard]] bool contradicts() const noexcept { return considered >= symbols::kLeastSightings && matched * 2 < considered; }
  [[nodiscard]] bool fits(size_t sightings) const noexcept {
    if (sightings < symbols::kLeastSightings) return true;
    return symbols::is_what_ran(matched, considered, sightings);
  }
};

Agreement agreement_at(const symbols::Image& image, std::span<const symbols::TextSighting> sightings, uint64_t slide) {
  Agreement result;
  for (const auto& sighting : sightings) {
    const GuestVa address{sighting.address.raw - slide};
    if (!image.is_text(address)) continue;
    ++result.considered;
    const auto bytes = image.bytes_at(address, sighting.bytes.size());
    if (std::ranges::equal(bytes, sighting.bytes)) ++result.matched;
  }
  return result;
}

std::string hex_slide(uint64_t slide) {
  const bool down = slide >> 63 != 0;
  return fmt::format("{}0x{:x}", down ? "-" : "", down ? uint64_t{0} - slide : slide);
}

void describe_placement(const std::string& path, const symbols::SlideVerdict& verdict, Messages& messages) {
  if (verdict.considered == 0) {
    messages.push_back(
        {Severity::kWarning, fmt::format("{}: the capture has too few code fingerprints to tell whether this ELF is "
                                         "what ran; it is taken as it is linked",
                                         path)});
    return;
  }
  const std::string votes = fmt::format("{} of {} code fingerprints match", verdict.matched, verdict.considered);
  const bool slid = std::ranges::any_of(verdict.eras, [](const auto& era) { return era.slide_bytes != 0; });
  if (!slid) {
    messages.push_back({Severity::kNote, fmt::format("{}: {}", path, votes)});
    return;
  }
  if (verdict.eras.size() == 1) {
    messages.push_back({Severity::kNote, fmt::format("{}: slid by {}, addresses are shown unslid; {}", path,
                                                     hex_slide(verdict.eras.front().slide_bytes), votes)});
    return;
  }
  messages.push_back({Severity::kNote, fmt::format("{}: the slide changed during the capture ({} times), addresses are shown "
                                                   "unslid; {}",
                                                   path, verdict.eras.size() - 1, votes)});
  for (const auto& era : verdict.eras)
    messages.push_back({Severity::kNote, fmt::format("  from {} ns: slid by {}, {} of {} match", era.from_ns,
                                                     hex_slide(era.slide_bytes), era.matched, era.considered)});
}

/// The ELF that the capture names, if it still is that one.
Result<ElfArgument> recorded_elf(const CaptureInput& input) {
  const capture::Header& header = input.summary.header;
  if (header.elf_path.empty())
    return Error{ErrorCode::kUsage, fmt::format("{}: names no ELF: give the kernel's with --elf", input.path)};
  return ElfArgument{.path = header.elf_path, .slide_bytes = std::nullopt};
}

Result<symbols::Image> open_image(const ElfArgument& elf, const CaptureInput& input, Mismatch mismatch) {
  QPERF_ASSIGN_OR_RETURN(symbols::Image image, symbols::Image::open(elf.path));
  if (input.legacy || mismatch == Mismatch::kUseAnyway) return image;
  const auto target = input.summary.header.target;
  if (image.target() == target) return image;
  return Error{ErrorCode::kUsage,
               fmt::format("{}: is an ELF for {}, but the capture is of {}: give that kernel's ELF", elf.path,
                           image.target() ? guest::info(*image.target()).name : "another machine", guest::info(target).name)};
}

std::string refusal(const std::string& path, uint64_t matched, uint64_t considered) {
  return fmt::format(
      "{}: is not what ran: {} of {} code fingerprints of the capture match; give the ELF that was booted, or "
      "--force to use this one",
      path, matched, considered);
}

}  // namespace

Result<ImageSet> ImageSet::open(std::span<const ElfArgument> elfs, const CaptureInput& input, Mismatch mismatch,
                                Messages& messages) {
  std::vector<symbols::TextSighting> sightings;
  for (const auto& print : input.fingerprints) sightings.push_back({print.wall_ns, print.address, print.bytes});

  std::vector<ElfArgument> wanted(elfs.begin(), elfs.end());
  const bool recorded = wanted.empty();
  if (recorded) {
    QPERF_ASSIGN_OR_RETURN(ElfArgument elf, recorded_elf(input));
    wanted.push_back(std::move(elf));
  }

  ImageSet set;
  std::vector<Judgement> judgements;
  std::optional<Error> misfit;
  for (const ElfArgument& elf : wanted) {
    auto opened = open_image(elf, input, mismatch);
    if (!opened) {
      if (recorded) return std::move(opened).error().in(input.path + ": the ELF it names, unless --elf gives another");
      return std::move(opened).error();
    }
    symbols::Image image = *std::move(opened);
    const auto& build_id = input.summary.header.elf_build_id;
    if (recorded && mismatch == Mismatch::kRefuse && !build_id.empty() && !std::ranges::equal(build_id, image.build_id()))
      return Error{ErrorCode::kUsage,
                   fmt::format("{}: the ELF it names, {}, has another build-id by now: give the one that was "
                               "booted with --elf",
                               input.path, elf.path)};
    // What an import's ELF lacks, the foreign profile never had.
    const bool imported = capture::import_format(input.summary.metadata).has_value();
    for (const std::string& warning : imported ? std::span<const std::string>() : image.warnings()) messages.push_back({Severity::kWarning, printable(warning)});

    Judgement judged;
    std::vector<symbols::SlideEra> eras;
    if (elf.slide_bytes) {
      const Agreement agreement = agreement_at(image, sightings, *elf.slide_bytes);
      const bool fits = agreement.fits(sightings.size());
      const bool wrong = agreement.contradicts() || (!fits && wanted.size() == 1);
      if (wrong && !misfit)
        misfit = Error{ErrorCode::kUsage, refusal(fmt::format("{} slid by {}", elf.path, hex_slide(*elf.slide_bytes)),
                                                  agreement.matched, sightings.size())};
      judged = {.image = nullptr, .fits = fits, .matched = agreement.matched, .considered = agreement.considered};
      messages.push_back({Severity::kNote, fmt::format("{}: slid by {} as given; {} of {} code fingerprints match", elf.path,
                                                       hex_slide(*elf.slide_bytes), agreement.matched, agreement.considered)});
      eras.push_back({.from_ns = 0, .slide_bytes = *elf.slide_bytes});
    } else {
      auto verdict = symbols::vote_slide(image, sightings);
      if (verdict.fits && !verdict.eras.empty()) {
        judged = {.image = nullptr, .fits = true, .matched = verdict.matched, .considered = verdict.considered};
        describe_placement(elf.path, verdict, messages);
        eras = std::move(verdict.eras);
      } else {
        // Firmware, a loader or a module may have no block among the fingerprints: only what contradicts them is refused.
        const Agreement agreement = agreement_at(image, sightings, 0);
        const bool wrong = wanted.size() == 1 || agreement.contradicts();
        if (wrong && !misfit) misfit = Error{ErrorCode::kUsage, refusal(elf.path, verdict.matched, sightings.size())};
        if (!wrong)
          messages.push_back({Severity::kNote, fmt::format("{}: no code fingerprint lies in it; it is taken as it is linked "
                                                           "(give its slide as {}@SLIDE otherwise)",
                                                           elf.path, elf.path)});
        eras.push_back({.from_ns = 0, .slide_bytes = 0});
      }
    }
    judgements.push_back(judged);
    set.images_.push_back(Placed{.image = std::move(image), .eras = std::move(eras), .slides = {}});
  }
  // Where they stay.
  for (size_t i = 0; i < judgements.size(); ++i) judgements[i].image = &set.images_[i].image;
  const auto other_build = find_other_build(judgements, input);
  // Kernels that patch their text never match in full: there a build that is nearly the same cannot be told by its code.
  if (other_build && !other_build->unanimous && !misfit)
    misfit = Error{ErrorCode::kUsage, other_build->text + ": give the ELF that was recorded, or --force to use this one"};
  if (other_build && other_build->unanimous)
    messages.push_back({Severity::kWarning, other_build->text + ": give the ELF that was recorded"});
  if (std::ranges::none_of(judgements, &Judgement::fits) && !misfit)
    misfit = Error{ErrorCode::kUsage, fmt::format("{}: none of the {} ELFs given is the kernel that ran; give it, or --force",
                                                  input.path, wanted.size())};
  if (misfit && mismatch == Mismatch::kRefuse) return *std::move(misfit);
  if (misfit)
    messages.push_back({Severity::kWarning, "used all the same (--force), names are likely wrong: " + misfit->message});
  set.join_eras();
  std::vector<PlacedText> texts;
  for (const Placed& placed : set.images_)
    texts.push_back({.path = placed.image.path(), .linked = placed.image.text_ranges(), .slides = placed.slides});
  warn_of_overlaps(texts, messages);
  if (!input.legacy && input.summary.header.mode == guest::Mode::kExact && moved_onto_old_text(texts))
    messages.push_back({Severity::kWarning, "the kernel moved onto its old text while every block was counted: blocks of the second "
                                            "around that may have names of the wrong boot; record each boot by itself"});
  if (!misfit && sightings.size() >= symbols::kLeastSightings) describe_unplaced(input, set, messages);
  return set;
}

void ImageSet::join_eras() {
  era_starts_ = {0};
  for (const Placed& placed : images_)
    for (const auto& era : placed.eras) era_starts_.push_back(era.from_ns);
  std::ranges::sort(era_starts_);
  era_starts_.erase(std::unique(era_starts_.begin(), era_starts_.end()), era_starts_.end());
  for (Placed& placed : images_) {
    for (const WallNs start : era_starts_) {
      auto slide = placed.eras.front().slide_bytes;
      for (const auto& era : placed.eras)
        if (era.from_ns <= start) slide = era.slide_bytes;
      placed.slides.push_back(slide);
    }
  }
}

uint32_t ImageSet::era_at(WallNs wall_ns) const noexcept {
  const auto after = std::ranges::upper_bound(era_starts_, wall_ns);
  return static_cast<uint32_t>(after - era_starts_.begin() - 1);
}

std::optional<PlacedAddress> ImageSet::place(uint32_t era, GuestVa address) const noexcept {
  for (uint32_t i = 0; i < images_.size(); ++i) {
    const GuestVa linked{address.raw - images_[i].slides[era]};
    if (images_[i].image.is_text(linked)) return PlacedAddress{i, linked};
  }
  return std::nullopt;
}

}  // namespace qperf::analysis
