#pragma once

#include <tsl/robin_map.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

#include "base/keyed_hash.h"
#include "export/proto_writer.h"
#include "export/text_sink.h"

namespace qperf::exporter {

/// Packets that share their defaults and the numbers of their texts: what Perfetto calls a sequence.
class PerfettoSequence {
 public:
  /// Numbers of texts of one kind, from 1.
  using Texts = tsl::robin_map<std::string, uint64_t, KeyedHash, std::equal_to<>>;

  /// Writes the first packet. `id`: from 1, unique in the file. `defaults`: a TracePacketDefaults. The sink outlives the sequence.
  PerfettoSequence(uint64_t id, const ProtoWriter& defaults, TextSink& sink);

  /// Writes a packet with `message` as its `field`, and what it needs to be defined before.
  void packet(uint64_t at_ns, uint32_t field, const ProtoWriter& message);
  /// To be defined by the next packet: fields of an InternedData.
  [[nodiscard]] ProtoWriter& interned() noexcept { return interned_; }
  /// The number of a text, made printable; a new one is defined as an InternedString in `field`.
  uint64_t intern(Texts& texts, uint32_t field, std::string_view text);

 private:
  uint64_t id_;
  TextSink& sink_;
  ProtoWriter interned_;
  ProtoWriter packet_;  // reused
};

}  // namespace qperf::exporter
