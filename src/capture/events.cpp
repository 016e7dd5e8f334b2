#include "capture/events.h"

#include <fmt/core.h>

#include <algorithm>
#include <unordered_map>

#include "capture/limits.h"
#include "capture/payload_reader.h"

namespace qperf::capture {
namespace {

// The first byte of an event.
constexpr uint8_t kTypeMask = 0x03;
constexpr uint8_t kHasStack = 0x04;
constexpr uint8_t kArgumentShift = 3;  // number of arguments stored, 0..5: those behind are zero
constexpr uint8_t kArgumentMask = 0x07;
constexpr uint8_t kReservedBits = 0xc0;

constexpr size_t kLeastEventBytes = 4;  // head, sequence, wall_ns, insns
constexpr size_t kLeastStackBytes = 2;  // frame_count, one frame
constexpr size_t kLeastLossBytes = 3;   // first, last, class mask

// The most bytes that one record can take: varints of 64 bits are 10 bytes.
constexpr size_t kMostEventBytes = 1 + 5 + 10 * (4 + guest::kTraceArguments);
constexpr size_t kMostLossBytes = 20 + 2 + 10 * kEventClassCount;
constexpr size_t kMostFrameBytes = 10;
constexpr size_t kMostPrefixBytes = 40;  // stored_before and the counts

Error too_many(const char* what, uint64_t found, uint64_t limit) {
  return Error{ErrorCode::kLimit, fmt::format("events chunk: {} {}, at most {} are allowed", found, what, limit)};
}

Error damaged(const char* record, size_t index, const char* what) {
  return Error{ErrorCode::kBadFormat, fmt::format("events chunk: {} {}: {}", record, index, what)};
}

uint8_t arguments_used(const Event& event) noexcept {
  size_t used = event.args.size();
  while (used > 0 && event.args[used - 1] == 0) --used;
  return static_cast<uint8_t>(used);
}

/// What is wrong with an event by itself or behind the one before; nullptr: nothing. No Result: it is asked for each event.
const char* event_fault(const EventChunk& chunk, size_t i) noexcept {
  const Event& event = chunk.events[i];
  if (event.stack != kNoEventStack && event.stack >= chunk.stacks.size()) return "its stack is not in the chunk";
  if (event.type != EventType::kMarker && (event.kind != 0 || arguments_used(event) != 0))
    return "a vCPU event with a marker's values";
  if (i > 0 && event.sequence <= chunk.events[i - 1].sequence) return "its sequence number does not ascend";
  return nullptr;
}

Result<void> check_losses(const EventChunk& chunk) {
  size_t event = 0;
  for (size_t i = 0; i < chunk.losses.size(); ++i) {
    const EventLoss& loss = chunk.losses[i];
    if (loss.last_sequence < loss.first_sequence) return damaged("loss", i, "its last sequence number lies before its first");
    const size_t events_before = event;
    while (event < chunk.events.size() && chunk.events[event].sequence < loss.first_sequence) ++event;
    if (i > 0 && event == events_before) return damaged("loss", i, "no event lies between it and the one before");
    if (event < chunk.events.size() && chunk.events[event].sequence <= loss.last_sequence)
      return damaged("loss", i, "an event lies inside it");
  }
  return {};
}

size_t most_stack_bytes(const std::vector<GuestVa>& stack) noexcept { return kMostFrameBytes * (stack.size() + 1); }

}  // namespace

std::string_view event_class_name(EventClass event_class) noexcept {
  switch (event_class) {
    case EventClass::kOtherMarker: return "other";
    case EventClass::kMetadata: return "metadata";
    case EventClass::kSwitch: return "switch";
    case EventClass::kBlock: return "block";
    case EventClass::kWake: return "wake";
    case EventClass::kExit: return "exit";
    case EventClass::kEnqueue: return "enqueue";
    case EventClass::kPhase: return "phase";
    case EventClass::kVcpuIdle: return "vcpu idle";
    case EventClass::kVcpuResume: return "vcpu resume";
  }
  return "other";
}

Result<void> check_events(const EventChunk& chunk) {
  if (chunk.vcpu.raw >= kMaxVcpus)
    return Error{ErrorCode::kLimit, fmt::format("events chunk: vcpu {}, at most {} are allowed", chunk.vcpu.raw, kMaxVcpus)};
  for (size_t i = 0; i < chunk.stacks.size(); ++i) {
    if (chunk.stacks[i].empty()) return damaged("stack", i, "has no frame");
    if (chunk.stacks[i].size() > kMaxFramesPerSample)
      return too_many("frames of one stack", chunk.stacks[i].size(), kMaxFramesPerSample);
  }
  for (size_t i = 0; i < chunk.events.size(); ++i)
    if (const char* fault = event_fault(chunk, i)) return damaged("event", i, fault);
  return check_losses(chunk);
}

void encode_events(const EventChunk& chunk, ByteWriter& out) {
  out.varint(chunk.stored_before);
  out.varint(chunk.stacks.size());
  uint64_t previous_leaf = 0;
  for (const auto& stack : chunk.stacks) {
    out.varint(stack.size());
    uint64_t previous = previous_leaf;
    for (const GuestVa frame : stack) {
      write_delta(out, previous, frame.raw);
      previous = frame.raw;
    }
    previous_leaf = stack.front().raw;
  }
  Event previous;
  for (const Event& event : chunk.events) {
    const uint8_t used = arguments_used(event);
    const bool has_stack = event.stack != kNoEventStack;
    out.u8(static_cast<uint8_t>(static_cast<uint8_t>(event.type) | (has_stack ? kHasStack : 0) | (used << kArgumentShift)));
    write_delta(out, previous.sequence, event.sequence);
    write_delta(out, previous.wall_ns, event.wall_ns);
    write_delta(out, previous.insns, event.insns);
    if (has_stack) out.varint(event.stack);
    if (event.type == EventType::kMarker) out.varint(event.kind);
    for (size_t i = 0; i < used; ++i) out.varint(event.args[i]);
    previous = event;
  }
  out.varint(chunk.losses.size());
  uint64_t previous_last = 0;
  for (const EventLoss& loss : chunk.losses) {
    write_delta(out, previous_last, loss.first_sequence);
    out.varint(loss.last_sequence - loss.first_sequence);
    previous_last = loss.last_sequence;
    uint64_t mask = 0;
    for (size_t i = 0; i < kEventClassCount; ++i) mask |= uint64_t{loss.counts[i] != 0} << i;
    out.varint(mask);
    for (const uint64_t count : loss.counts) {
      if (count != 0) out.varint(count);
    }
  }
}

std::vector<size_t> split_events(const EventChunk& chunk) {
  std::vector<size_t> cuts{0};
  std::vector<size_t> last_part_of_stack(chunk.stacks.size(), 0);  // part number + 1
  size_t loss = 0;
  size_t bytes = kMostPrefixBytes;
  size_t frames = 0;
  for (size_t i = 0; i < chunk.events.size(); ++i) {
    const Event& event = chunk.events[i];
    size_t losses_before = 0;
    while (loss + losses_before < chunk.losses.size() && chunk.losses[loss + losses_before].first_sequence < event.sequence)
      ++losses_before;
    const std::vector<GuestVa>* stack = event.stack == kNoEventStack ? nullptr : &chunk.stacks[event.stack];
    const bool new_stack = stack != nullptr && last_part_of_stack[event.stack] != cuts.size();
    const size_t needed = kMostEventBytes + losses_before * kMostLossBytes + (new_stack ? most_stack_bytes(*stack) : 0);
    const size_t needed_frames = new_stack ? stack->size() : 0;
    if (i > cuts.back() && (bytes + needed > kMaxChunkRawBytes / 2 || frames + needed_frames > kMaxEventFramesPerChunk ||
                            i - cuts.back() == kMaxEventsPerChunk)) {
      cuts.push_back(i);
      bytes = kMostPrefixBytes + kMostEventBytes + losses_before * kMostLossBytes + (stack ? most_stack_bytes(*stack) : 0);
      frames = stack ? stack->size() : 0;
    } else {
      bytes += needed;
      frames += needed_frames;
    }
    if (stack != nullptr) last_part_of_stack[event.stack] = cuts.size();
    loss += losses_before;
  }
  cuts.push_back(chunk.events.size());
  return cuts;
}

EventChunk event_part(const EventChunk& chunk, size_t first, size_t last) {
  EventChunk part;
  part.vcpu = chunk.vcpu;
  part.stored_before = chunk.stored_before + first;
  part.events.assign(chunk.events.begin() + static_cast<ptrdiff_t>(first), chunk.events.begin() + static_cast<ptrdiff_t>(last));
  std::unordered_map<uint32_t, uint32_t> new_index;
  for (Event& event : part.events) {
    if (event.stack == kNoEventStack) continue;
    const auto [it, added] = new_index.try_emplace(event.stack, static_cast<uint32_t>(part.stacks.size()));
    if (added) part.stacks.push_back(chunk.stacks[event.stack]);
    event.stack = it->second;
  }
  // A loss travels with the event behind it; the trailing ones with the last part.
  for (const EventLoss& loss : chunk.losses) {
    const bool after_first = first == 0 || loss.first_sequence > chunk.events[first - 1].sequence;
    const bool before_last = last == chunk.events.size() || loss.first_sequence < chunk.events[last - 1].sequence;
    if (after_first && before_last) part.losses.push_back(loss);
  }
  return part;
}

Result<const EventChunk*> EventDecoder::decode(std::span<const std::byte> payload, VcpuIndex vcpu, uint32_t event_count) {
  chunk_.vcpu = vcpu;
  PayloadReader in(payload);
  chunk_.stored_before = in.varint();
  QPERF_RETURN_IF_ERROR(decode_stacks(in));
  QPERF_RETURN_IF_ERROR(decode_events(in, event_count));
  QPERF_RETURN_IF_ERROR(decode_losses(in));
  if (in.remaining() != 0)
    return Error{ErrorCode::kBadFormat, fmt::format("events chunk: {} bytes behind the last loss", in.remaining())};
  QPERF_RETURN_IF_ERROR(check_losses(chunk_));
  return &chunk_;
}

Result<void> EventDecoder::decode_stacks(PayloadReader& in) {
  const uint64_t stack_count = in.varint();
  if (stack_count > kMaxEventStacksPerChunk) return too_many("stacks", stack_count, kMaxEventStacksPerChunk);
  if (stack_count > in.remaining() / kLeastStackBytes)
    return damaged("stack count", stack_count, "more than the chunk has room for");
  chunk_.stacks.resize(stack_count);
  size_t frames_left = kMaxEventFramesPerChunk;
  uint64_t previous_leaf = 0;
  for (size_t i = 0; i < stack_count; ++i) {
    const uint64_t frame_count = in.varint();
    if (!in.ok()) return damaged("stack", i, "cut short");
    if (frame_count == 0) return damaged("stack", i, "has no frame");
    if (frame_count > kMaxFramesPerSample) return too_many("frames of one stack", frame_count, kMaxFramesPerSample);
    if (frame_count > in.remaining()) return damaged("stack", i, "more frames than the chunk has room for");
    if (frame_count > frames_left) return too_many("frames of all stacks", kMaxEventFramesPerChunk + 1, kMaxEventFramesPerChunk);
    frames_left -= frame_count;
    auto& stack = chunk_.stacks[i];
    stack.resize(frame_count);
    uint64_t previous = previous_leaf;
    for (GuestVa& frame : stack) frame.raw = previous = in.delta(previous);
    if (!in.ok()) return damaged("stack", i, "cut short inside its frames");
    previous_leaf = stack.front().raw;
  }
  return {};
}

Result<void> EventDecoder::decode_events(PayloadReader& in, uint32_t event_count) {
  if (event_count > kMaxEventsPerChunk) return too_many("events", event_count, kMaxEventsPerChunk);
  if (event_count > in.remaining() / kLeastEventBytes)
    return damaged("event count", event_count, "more than the chunk has room for");
  chunk_.events.resize(event_count);
  uint64_t sequence = 0;
  WallNs wall_ns = 0;
  Insns insns = 0;
  for (size_t i = 0; i < event_count; ++i) {
    Event& event = chunk_.events[i];
    const uint64_t previous_sequence = sequence;
    const uint8_t head = in.u8();
    const size_t used = (head >> kArgumentShift) & kArgumentMask;
    if ((head & kTypeMask) >= kEventTypeCount || (head & kReservedBits) != 0 || used > guest::kTraceArguments)
      return damaged("event", i, "its first byte has bits that mean nothing");
    event.type = static_cast<EventType>(head & kTypeMask);
    event.sequence = sequence = in.delta(sequence);
    event.wall_ns = wall_ns = in.delta(wall_ns);
    event.insns = insns = in.delta(insns);
    event.stack = (head & kHasStack) != 0 ? in.varint32() : kNoEventStack;
    event.kind = event.type == EventType::kMarker ? in.varint() : 0;
    event.args = {};
    for (size_t j = 0; j < used; ++j) event.args[j] = in.varint();
    if (!in.ok()) return damaged("event", i, "cut short, or a number that does not fit");
    // What most events are is seen to be right without a look at all rules.
    const bool plain = event.type == EventType::kMarker && event.stack == kNoEventStack && (i == 0 || sequence > previous_sequence);
    if (plain) continue;
    if (const char* fault = event_fault(chunk_, i)) return damaged("event", i, fault);
  }
  return {};
}

Result<void> EventDecoder::decode_losses(PayloadReader& in) {
  const uint64_t loss_count = in.varint();
  if (!in.ok()) return damaged("loss count", 0, "cut short");
  if (loss_count > kMaxEventLossesPerChunk) return too_many("losses", loss_count, kMaxEventLossesPerChunk);
  if (loss_count > in.remaining() / kLeastLossBytes) return damaged("loss count", loss_count, "more than the chunk has room for");
  chunk_.losses.resize(loss_count);
  uint64_t previous_last = 0;
  for (size_t i = 0; i < loss_count; ++i) {
    EventLoss& loss = chunk_.losses[i];
    loss.first_sequence = in.delta(previous_last);
    loss.last_sequence = loss.first_sequence + in.varint();
    const uint64_t mask = in.varint();
    if (mask >> kEventClassCount != 0) return damaged("loss", i, "counts events of a class that does not exist");
    for (size_t j = 0; j < kEventClassCount; ++j) loss.counts[j] = ((mask >> j) & 1) != 0 ? in.varint() : 0;
    if (!in.ok()) return damaged("loss", i, "cut short, or a number that does not fit");
    previous_last = loss.last_sequence;
  }
  return {};
}

}  // namespace qperf::capture
