#include "sampling/event_chunk_builder.h"

#include <fmt/core.h>

#include <algorithm>
#include <numeric>

#include "base/checksum.h"

namespace qperf::sampling {
namespace {

std::string by_class(const capture::EventCounts& counts) {
  std::string text;
  for (size_t i = 0; i < counts.size(); ++i) {
    if (counts[i] == 0) continue;
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", capture::event_class_name(static_cast<capture::EventClass>(i)), counts[i]);
  }
  return text;
}

uint64_t total(const capture::EventCounts& counts) { return std::accumulate(counts.begin(), counts.end(), uint64_t{0}); }

}  // namespace

void EventChunkBuilder::add(const EventSlot& slot) {
  add_loss(slot.before);
  ++stored_[static_cast<size_t>(capture::event_class(slot.type, slot.kind))];
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
  for (size_t i = 0; i < record.counts.size(); ++i) {
    record.counts[i] = loss.counts[i];
    dropped_[i] += loss.counts[i];
  }
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

std::string describe_events(std::span<const EventChunkBuilder> builders) {
  capture::EventCounts stored{};
  uint64_t dropped = 0;
  std::string drops;
  for (const EventChunkBuilder& builder : builders) {
    for (size_t i = 0; i < stored.size(); ++i) stored[i] += builder.stored()[i];
    if (total(builder.dropped()) == 0) continue;
    dropped += total(builder.dropped());
    drops += fmt::format("{}vcpu {}: {}", drops.empty() ? "" : "; ", builder.chunk().vcpu.raw, by_class(builder.dropped()));
  }
  std::string text = fmt::format("{} trace events", total(stored));
  if (total(stored) != 0) text += fmt::format(" ({})", by_class(stored));
  text += fmt::format(", dropped {}", dropped);
  if (dropped != 0) text += fmt::format(" ({})", drops);
  return text;
}

}  // namespace qperf::sampling
