#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "base/bytes.h"
#include "base/result.h"
#include "base/types.h"
#include "guest/trace_events.h"

/// Events of the guest's trace marker and of the vCPUs, and the payload of events chunks (docs/capture-format.md).
namespace qperf::capture {

/// What an event record is. Values are stored in captures: never renumber.
enum class EventType : uint8_t {
  kMarker = 0,      // the guest executed its trace marker
  kVcpuIdle = 1,    // the vCPU halted
  kVcpuResume = 2,  // and went on
};
inline constexpr size_t kEventTypeCount = 3;

/// How events are counted: by the marker kinds that have a name, the others together, and the two of the vCPU.
/// Values are stored in captures: never renumber.
enum class EventClass : uint8_t {
  kOtherMarker = 0,
  kMetadata = 1,
  kSwitch = 2,
  kBlock = 3,
  kWake = 4,
  kExit = 5,
  kEnqueue = 6,
  kPhase = 7,
  kVcpuIdle = 8,
  kVcpuResume = 9,
};
inline constexpr size_t kEventClassCount = 10;
using EventCounts = std::array<uint64_t, kEventClassCount>;

[[nodiscard]] constexpr EventClass event_class(EventType type, uint64_t kind) noexcept {
  if (type == EventType::kVcpuIdle) return EventClass::kVcpuIdle;
  if (type == EventType::kVcpuResume) return EventClass::kVcpuResume;
  return kind >= 1 && kind <= 7 ? static_cast<EventClass>(kind) : EventClass::kOtherMarker;
}

/// "switch", "other", "vcpu idle".
[[nodiscard]] std::string_view event_class_name(EventClass event_class) noexcept;

/// The stack of an event that has none.
inline constexpr uint32_t kNoEventStack = 0xffffffff;

/// One event, its arguments as the guest passed them: kinds that this version does not know survive.
struct Event {
  EventType type = EventType::kMarker;
  uint64_t sequence = 0;  // per vCPU, shared with samples, from 0
  WallNs wall_ns = 0;     // since plugin load
  Insns insns = 0;        // this vCPU's guest kernel instructions before the event
  uint64_t kind = 0;      // markers only, else 0
  std::array<uint64_t, guest::kTraceArguments> args{};
  uint32_t stack = kNoEventStack;  // index into the chunk's stacks

  friend bool operator==(const Event&, const Event&) = default;
};

/// Events that found the queue full: `counts` of them were lost somewhere in the sequence numbers
/// [first_sequence, last_sequence], both inclusive. Stored samples may have numbers in between, stored events do not, and
/// between two losses lies at least one event.
struct EventLoss {
  uint64_t first_sequence = 0;
  uint64_t last_sequence = 0;
  EventCounts counts{};

  friend bool operator==(const EventLoss&, const EventLoss&) = default;
};

/// One vCPU's events of one flush. `events` and `losses` each in ascending order of sequence.
struct EventChunk {
  VcpuIndex vcpu;
  uint64_t stored_before = 0;               // events of this vCPU in all chunks before: a jump is a chunk that is missing
  std::vector<std::vector<GuestVa>> stacks;  // return address first, then the chain: leaf first, 1..kMaxFramesPerSample
  std::vector<Event> events;
  std::vector<EventLoss> losses;

  friend bool operator==(const EventChunk&, const EventChunk&) = default;
};

/// Refuses what a reader would, but for the number of records: split_events() sees to that.
[[nodiscard]] Result<void> check_events(const EventChunk& chunk);

/// Appends the payload. `chunk` has passed check_events; the chunk header's record count is events.size().
void encode_events(const EventChunk& chunk, ByteWriter& out);

/// Where the events of a chunk that is too large for one payload must be cut: the events of part i are [result[i],
/// result[i + 1]). One part in the usual case.
[[nodiscard]] std::vector<size_t> split_events(const EventChunk& chunk);

/// The part [first, last) of a chunk with just the stacks and losses that belong to it; `first` 0 takes the leading losses,
/// `last` == size the trailing ones.
[[nodiscard]] EventChunk event_part(const EventChunk& chunk, size_t first, size_t last);

/// Decodes payloads into one EventChunk whose memory is reused.
class EventDecoder {
 public:
  /// `event_count` is the chunk header's record count. The result lives until the next call.
  Result<const EventChunk*> decode(std::span<const std::byte> payload, VcpuIndex vcpu, uint32_t event_count);

 private:
  Result<void> decode_stacks(class PayloadReader& in);
  Result<void> decode_events(class PayloadReader& in, uint32_t event_count);
  Result<void> decode_losses(class PayloadReader& in);

  EventChunk chunk_;
};

}  // namespace qperf::capture
