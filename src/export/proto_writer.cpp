#include "export/proto_writer.h"

namespace qperf::exporter {

void ProtoWriter::fixed64(uint32_t field, uint64_t value) {
  tag(field, kFixed64);
  for (unsigned shift = 0; shift < 64; shift += 8) buffer_.push_back(static_cast<char>(value >> shift & 0xff));
}

void ProtoWriter::packed(uint32_t field, std::span<const uint64_t> values) {
  if (values.empty()) return;
  size_t size = 0;
  for (uint64_t value : values) {
    do ++size;
    while ((value >>= 7) != 0);
  }
  length(field, size);
  for (const uint64_t value : values) varint(value);
}

void write_message(TextSink& sink, uint32_t field, const ProtoWriter& message) {
  ProtoWriter head;  // short enough to need no allocation
  head.length(field, message.data().size());
  sink.write(head.data());
  sink.write(message.data());
}

}  // namespace qperf::exporter
