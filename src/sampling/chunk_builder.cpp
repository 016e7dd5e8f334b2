#include "sampling/chunk_builder.h"

#include <algorithm>
#include <optional>

#include "base/checksum.h"

namespace qperf::sampling {
namespace {

capture::Site site_of(const SampleSlot& slot) {
  const auto frames = slot.frames();
  return {.pc = GuestVa{slot.block->pc.load(std::memory_order_relaxed)},  // final since the block was translated
          .block_insns = slot.block->insns.load(std::memory_order_relaxed),
          .stop = slot.stop,
          .link = slot.has_link ? std::optional(slot.link) : std::nullopt,
          .frames = {frames.begin(), frames.end()}};
}

bool same_site(const capture::Site& site, const SampleSlot& slot) {
  return site.pc.raw == slot.block->pc.load(std::memory_order_relaxed) &&
         site.block_insns == slot.block->insns.load(std::memory_order_relaxed) && site.stop == slot.stop &&
         site.link == (slot.has_link ? std::optional(slot.link) : std::nullopt) &&
         std::ranges::equal(site.frames, slot.frames());
}

}  // namespace

void ChunkBuilder::add(const SampleSlot& slot) {
  chunk_.samples.push_back({.site = intern(slot),
                            .sequence = slot.sequence,
                            .wall_ns = slot.wall_ns,
                            .insns = slot.insns,
                            .weight = slot.weight,
                            .task = slot.task});
}

uint32_t ChunkBuilder::intern(const SampleSlot& slot) {
  // The block stands for pc and length. The multiplication keeps equal differences of the three from cancelling out.
  const uint64_t hash = (xxh3_64(std::as_bytes(slot.frames())) ^ reinterpret_cast<uintptr_t>(slot.block)) * 0x9e3779b97f4a7c15 +
                        slot.link.raw;
  const auto [first, last] = sites_by_hash_.equal_range(hash);
  for (auto candidate = first; candidate != last; ++candidate)
    if (same_site(chunk_.sites[candidate->second], slot)) return candidate->second;
  const auto index = static_cast<uint32_t>(chunk_.sites.size());
  chunk_.sites.push_back(site_of(slot));
  sites_by_hash_.emplace(hash, index);
  frames_ += slot.frame_count;
  return index;
}

void ChunkBuilder::clear() {
  chunk_.sites.clear();
  chunk_.samples.clear();
  sites_by_hash_.clear();
  frames_ = 0;
}

}  // namespace qperf::sampling
