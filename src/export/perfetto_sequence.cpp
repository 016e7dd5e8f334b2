#include "export/perfetto_sequence.h"

#include "base/printable.h"

namespace qperf::exporter {
namespace {

constexpr uint32_t kTracePacket = 1;
namespace packet_field {
enum : uint32_t { kTimestamp = 8, kSequenceId = 10, kInternedData = 12, kSequenceFlags = 13, kDefaults = 59, kFirstOnSequence = 87 };
}
constexpr uint64_t kStateCleared = 1;
constexpr uint64_t kNeedsState = 2;

}  // namespace

PerfettoSequence::PerfettoSequence(uint64_t id, const ProtoWriter& defaults, TextSink& sink) : id_(id), sink_(sink) {
  packet_.number(packet_field::kSequenceId, id_);
  packet_.number(packet_field::kSequenceFlags, kStateCleared | kNeedsState);
  packet_.number(packet_field::kFirstOnSequence, 1);
  packet_.message(packet_field::kDefaults, defaults);
  write_message(sink_, kTracePacket, packet_);
}

void PerfettoSequence::packet(uint64_t at_ns, uint32_t field, const ProtoWriter& message) {
  packet_.clear();
  packet_.number(packet_field::kTimestamp, at_ns);
  packet_.number(packet_field::kSequenceId, id_);
  packet_.number(packet_field::kSequenceFlags, kNeedsState);
  if (!interned_.empty()) packet_.message(packet_field::kInternedData, interned_);
  interned_.clear();
  packet_.message(field, message);
  write_message(sink_, kTracePacket, packet_);
}

uint64_t PerfettoSequence::intern(Texts& texts, uint32_t field, std::string_view text) {
  if (const auto known = texts.find(text); known != texts.end()) return known->second;
  const auto [position, added] = texts.try_emplace(printable(text), texts.size() + 1);
  if (added) {
    ProtoWriter entry;
    entry.number(1, position->second);
    entry.bytes(2, position->first);
    interned_.message(field, entry);
  }
  return position->second;
}

}  // namespace qperf::exporter
