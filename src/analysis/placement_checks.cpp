#include "analysis/placement_checks.h"

#include <fmt/core.h>

#include <algorithm>
#include <set>

#include "analysis/image_set.h"
#include "base/hex.h"
#include "symbols/image.h"
#include "symbols/slide.h"

namespace qperf::analysis {
namespace {

/// A run of unplaced fingerprints is told from this many on: a driver's few blocks are no news.
constexpr uint64_t kLeastUnplaced = 8;

/// The first range that both have, each slid by its own.
std::optional<GuestRange> common_text(const PlacedText& a, uint64_t slide_a, const PlacedText& b, uint64_t slide_b) {
  const auto moved = [](const GuestRange& linked, uint64_t slide) {
    return GuestRange{GuestVa{linked.first.raw + slide}, GuestVa{linked.last.raw + slide}};
  };
  for (size_t i = 0, j = 0; i < a.linked.size() && j < b.linked.size();) {
    const GuestRange in_a = moved(a.linked[i], slide_a);
    const GuestRange in_b = moved(b.linked[j], slide_b);
    const GuestRange both{std::max(in_a.first, in_b.first), std::min(in_a.last, in_b.last)};
    if (both.first <= both.last) return both;
    in_a.last < in_b.last ? ++i : ++j;
  }
  return std::nullopt;
}

void warn_of_overlap(const PlacedText& a, const PlacedText& b, Messages& messages) {
  std::set<uint64_t> compared;  // a forged file has many eras, but few slides
  for (size_t era = 0; era < a.slides.size(); ++era) {
    if (!compared.insert(a.slides[era] - b.slides[era]).second) continue;
    const auto common = common_text(a, a.slides[era], b, b.slides[era]);
    if (!common) continue;
    messages.push_back(
        {Severity::kWarning,
         fmt::format("{} and {} both have code at {:#x} to {:#x}, where the first one given names it: leave out the one that did not "
                     "run there, or give its slide as ELF@SLIDE",
                     a.path, b.path, common->first.raw, common->last.raw)});
    return;
  }
}

}  // namespace

std::optional<OtherBuild> find_other_build(std::span<const Judgement> judgements, const CaptureInput& input) {
  const std::span<const std::byte> recorded = input.summary.header.elf_build_id;
  if (recorded.empty()) return std::nullopt;
  const Judgement* kernel = nullptr;
  for (const Judgement& judgement : judgements) {
    const auto id = judgement.image->build_id();
    if (std::ranges::equal(id, recorded) || (judgement.fits && id.empty())) return std::nullopt;
    if (kernel == nullptr && judgement.fits) kernel = &judgement;
  }
  if (kernel == nullptr) return std::nullopt;
  return OtherBuild{
      .text = fmt::format("{}: is another build than the one recorded: its build-id is {}, but {} of the capture had {}; {} of {} "
                          "code fingerprints match, and functions may be misnamed",
                          kernel->image->path(), hex_digits(kernel->image->build_id()), input.summary.header.elf_path, hex_digits(recorded),
                          kernel->matched, kernel->considered),
      .unanimous = kernel->considered >= symbols::kLeastSightings && kernel->matched == kernel->considered};
}

void describe_unplaced(const CaptureInput& input, const ImageSet& images, Messages& messages) {
  const auto& prints = input.fingerprints;
  uint64_t unplaced = 0;
  std::optional<size_t> run;  // where the longest run up to the end starts of which three in four are unplaced
  uint64_t unplaced_in_run = 0;
  for (size_t i = prints.size(); i-- > 0;) {
    if (images.place(images.era_at(prints[i].wall_ns), prints[i].address)) continue;
    ++unplaced;
    if (unplaced < kLeastUnplaced || unplaced * 4 < (prints.size() - i) * 3) continue;
    run = i;
    unplaced_in_run = unplaced;
  }
  if (unplaced == 0) return;
  messages.push_back({Severity::kNote, fmt::format("{} of all {} code fingerprints lie in no ELF that was given", unplaced, prints.size())});
  if (!run) return;
  messages.push_back(
      {Severity::kWarning,
       fmt::format("{} of the last {} code fingerprints, from {} ns on, lie in no ELF that was given: a module, or a kernel that moved "
                   "again (a reboot), whose samples are then shown as [module]",
                   unplaced_in_run, prints.size() - *run, prints[*run].wall_ns)});
}

void warn_of_overlaps(std::span<const PlacedText> elfs, Messages& messages) {
  for (size_t a = 0; a < elfs.size(); ++a)
    for (size_t b = a + 1; b < elfs.size(); ++b) warn_of_overlap(elfs[a], elfs[b], messages);
}

bool moved_onto_old_text(std::span<const PlacedText> elfs) {
  for (const PlacedText& elf : elfs) {
    std::set<uint64_t> compared{0};
    for (size_t era = 1; era < elf.slides.size(); ++era) {
      if (!compared.insert(elf.slides[era] - elf.slides[era - 1]).second) continue;
      if (common_text(elf, elf.slides[era - 1], elf, elf.slides[era])) return true;
    }
  }
  return false;
}

}  // namespace qperf::analysis
