#include "symbols/slide.h"

#include <algorithm>
#include <cstring>
#include <unordered_map>
#include <utility>

namespace qperf::symbols {
namespace {

constexpr uint64_t kSlideStep = 0x10000;
constexpr uint64_t kUpperHalf = uint64_t{1} << 63;
/// Sightings that take part in the election; more do not make it surer, all are judged by its outcome.
constexpr size_t kMaxVoters = 2048;
/// Bytes that stand in more places than this (padding, short epilogues) say nothing about which slide it is.
constexpr size_t kMaxPlaces = 8;
constexpr size_t kMaxCandidates = 16;
constexpr uint64_t kLeastVotes = 3;
/// A change of slide must explain more than this many sightings that the old one does not: chance matches explain one or two.
constexpr int64_t kCostOfChange = 4;

enum class Outcome : uint8_t { kOutside, kDiffers, kMatches };

Outcome compare(const Image& image, const TextSighting& sighting, uint64_t slide) {
  const GuestVa linked{sighting.address.raw - slide};
  if (sighting.bytes.empty() || !image.is_text(linked)) return Outcome::kOutside;
  const auto bytes = image.bytes_at(linked, sighting.bytes.size());
  if (bytes.size() < sighting.bytes.size()) return Outcome::kOutside;
  return std::ranges::equal(bytes, sighting.bytes) ? Outcome::kMatches : Outcome::kDiffers;
}

/// The slides under which the image stays where kernels live.
bool is_possible(const Image& image, uint64_t slide) {
  if (slide == 0) return true;  // an image that is linked low, and not slid, is what it is
  const GuestVa first{image.text_ranges().front().first.raw + slide};
  const GuestVa last{image.text_ranges().back().last.raw + slide};
  return first.raw >= kUpperHalf && first <= last;
}

/// Every slide that puts the sighted bytes at the sighted address; empty when there are too many to tell.
std::vector<uint64_t> slides_of(const Image& image, const TextSighting& sighting) {
  std::vector<uint64_t> slides;
  const std::span<const std::byte> wanted = sighting.bytes;
  if (wanted.empty()) return slides;
  for (const GuestRange& range : image.text_ranges()) {
    const auto text = image.bytes_at(range.first, range.last.raw - range.first.raw + 1);
    if (text.size() < wanted.size()) continue;
    const uint64_t first_offset = (sighting.address.raw - range.first.raw) % kSlideStep;
    for (uint64_t at = first_offset; at <= text.size() - wanted.size(); at += kSlideStep) {
      if (std::memcmp(text.data() + at, wanted.data(), wanted.size()) != 0) continue;
      const uint64_t slide = sighting.address.raw - (range.first.raw + at);
      if (!is_possible(image, slide)) continue;
      if (slides.size() == kMaxPlaces) return {};
      slides.push_back(slide);
    }
  }
  return slides;
}

/// Slide 0 and those with the most votes.
std::vector<uint64_t> elect(const Image& image, std::span<const TextSighting> sightings) {
  std::unordered_map<uint64_t, uint64_t> votes;
  const size_t stride = (sightings.size() + kMaxVoters - 1) / kMaxVoters;
  for (size_t i = 0; i < sightings.size(); i += stride)
    for (const uint64_t slide : slides_of(image, sightings[i])) ++votes[slide];
  std::vector<std::pair<uint64_t, uint64_t>> ranked;  // votes, slide
  for (const auto& [slide, count] : votes)
    if (slide != 0 && count >= kLeastVotes) ranked.emplace_back(count, slide);
  std::sort(ranked.begin(), ranked.end(),
            [](const auto& a, const auto& b) { return a.first != b.first ? a.first > b.first : a.second < b.second; });
  std::vector<uint64_t> candidates{0};
  for (size_t i = 0; i < std::min(ranked.size(), kMaxCandidates - 1); ++i) candidates.push_back(ranked[i].second);
  return candidates;
}

/// The candidate in force at each sighting: the sequence that explains most sightings, changes being paid for.
std::vector<size_t> best_sequence(const Image& image, std::span<const TextSighting> sightings,
                                  std::span<const uint64_t> candidates) {
  const size_t count = candidates.size();
  std::vector<int64_t> score(count, 0);
  std::vector<uint8_t> came_from(sightings.size() * count);  // kMaxCandidates fits a byte
  for (size_t i = 0; i < sightings.size(); ++i) {
    const auto best = static_cast<size_t>(std::max_element(score.begin(), score.end()) - score.begin());
    const int64_t after_change = score[best] - (i == 0 ? 0 : kCostOfChange);
    for (size_t c = 0; c < count; ++c) {
      const bool changes = score[c] < after_change;
      came_from[i * count + c] = static_cast<uint8_t>(changes ? best : c);
      if (changes) score[c] = after_change;
      if (compare(image, sightings[i], candidates[c]) == Outcome::kMatches) ++score[c];
    }
  }
  std::vector<size_t> sequence(sightings.size());
  auto current = static_cast<size_t>(std::max_element(score.begin(), score.end()) - score.begin());
  for (size_t i = sightings.size(); i-- > 0;) {
    sequence[i] = current;
    current = came_from[i * count + current];
  }
  return sequence;
}

}  // namespace

SlideVerdict vote_slide(const Image& image, std::span<const TextSighting> sightings) {
  SlideVerdict verdict;
  verdict.eras.emplace_back();
  if (sightings.size() < kLeastSightings || image.text_ranges().empty()) {
    verdict.fits = sightings.size() < kLeastSightings;
    return verdict;
  }
  const auto candidates = elect(image, sightings);
  const auto sequence = best_sequence(image, sightings, candidates);
  verdict.eras.front().slide_bytes = candidates[sequence.front()];
  for (size_t i = 0; i < sightings.size(); ++i) {
    const uint64_t slide = candidates[sequence[i]];
    if (slide != verdict.eras.back().slide_bytes)
      verdict.eras.push_back({.from_ns = sightings[i].wall_ns, .slide_bytes = slide, .matched = 0, .considered = 0});
    SlideEra& era = verdict.eras.back();
    const Outcome outcome = compare(image, sightings[i], slide);
    if (outcome != Outcome::kOutside) ++era.considered;
    if (outcome == Outcome::kMatches) ++era.matched;
  }
  for (const SlideEra& era : verdict.eras) {
    verdict.matched += era.matched;
    verdict.considered += era.considered;
  }
  verdict.fits = is_what_ran(verdict.matched, verdict.considered, sightings.size());
  return verdict;
}

}  // namespace qperf::symbols
