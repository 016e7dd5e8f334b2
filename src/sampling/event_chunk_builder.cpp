#include "sampling/event_chunk_builder.h"

#include <algorithm>
#include <span>

#include "base/checksum.h"

namespace qperf::sampling {

void EventChunkBuilder::add(const EventSlot& slot) {
  add_loss(slot.before);
  chunk_.events.push_back({.type = slot.type,
                           .sequence = slot.sequence,
                           .wall_ns = slot.wall_ns,
                           .insns = slot.insns,
                           .kind = slot.kind,
                           .args = slot.args,
                           .stack = slot.frame_count == 0 ? capture::kNoEventStack : intern(slot)});
}

void EventChunkBuilder::add_trailing(const PendingLoss& loss) { add_loss(loss); }

void EventChunkBuilder::add_loss(const PendingLoss& loss) {
  if (!loss.any) return;
  capture::EventLoss record{.first_sequence = loss.first_sequence, .last_sequence = loss.last_sequence};
  std::ranges::copy(loss.counts, record.counts.begin());
  chunk_.losses.push_back(record);
}

uint32_t EventChunkBuilder::intern(const EventSlot& slot) {
  const auto frames = std::span(slot.frames).first(slot.frame_count);
  const uint64_t hash = xxh3_64(std::as_bytes(frames));
  const auto [first, last] = stacks_by_hash_.equal_range(hash);
  for (auto candidate = first; candidate != last; ++candidate)
    if (std::ranges::equal(chunk_.stacks[candidate->second], frames)) return candidate->second;
  const auto index = static_cast<uint32_t>(chunk_.stacks.size());
  chunk_.stacks.emplace_back(frames.begin(), frames.end());
  stacks_by_hash_.emplace(hash, index);
  return index;
}

void EventChunkBuilder::clear() {
  chunk_.stored_before += chunk_.events.size();
  chunk_.events.clear();
  chunk_.stacks.clear();
  chunk_.losses.clear();
  stacks_by_hash_.clear();
}

}  // namespace qperf::sampling
