#include "capture/reader.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "base/checksum.h"
#include "capture/byte_source.h"
#include "capture/chunk_codec.h"
#include "capture/delivery.h"
#include "capture/header_keys.h"
#include "capture/limits.h"
#include "capture/metadata_codec.h"
#include "capture/record_codec.h"

namespace qperf::capture {
namespace {

constexpr size_t kSearchBytes = size_t{1} << 20;

Result<void> handle_chunk(const Handlers& handlers, ChunkRoom& room) {
  switch (room.kind) {
    case ChunkKind::kSamples:
      if (handlers.last_samples) return handlers.last_samples(room.packed_samples);
      if (handlers.packed_samples) QPERF_RETURN_IF_ERROR(handlers.packed_samples(room.packed_samples));
      return handlers.samples ? handlers.samples(room.samples.unpack(room.packed_samples)) : Result<void>();
    case ChunkKind::kEvents: return handlers.events(*room.event_chunk);
    case ChunkKind::kCounts: return handlers.counts(room.counts);
    case ChunkKind::kFingerprints: return handlers.fingerprints(room.fingerprints);
    case ChunkKind::kLedger:
    case ChunkKind::kTrailer: return handlers.ledger(room.ledger);
    case ChunkKind::kMetadata: break;
  }
  return {};
}

/// `size`: of the file; 0: not known.
HandleChunk handle_with(const Handlers& handlers, uint64_t size) {
  return [&handlers, size](ChunkRoom& room) -> Result<void> {
    QPERF_RETURN_IF_ERROR(handle_chunk(handlers, room));
    if (handlers.progress) handlers.progress(room.position, size);
    return {};
  };
}

/// One pass over a capture. What its member functions return as Error ends the reading; damage is counted and passed over.
class Reading {
 public:
  Reading(ByteSource& source, const Handlers& handlers, Delivery& delivery)
      : source_(source), handlers_(handlers), delivery_(delivery) {}

  Result<Summary> run() {
    QPERF_RETURN_IF_ERROR(begin());
    QPERF_RETURN_IF_ERROR(read_chunks());
    QPERF_RETURN_IF_ERROR(read_last_samples());
    summary_.metadata = std::move(metadata_).metadata();
    QPERF_RETURN_IF_ERROR(take_header());
    return std::move(summary_);
  }

  Result<void> begin() {
    QPERF_ASSIGN_OR_RETURN(const auto head, source_.peek(kMaxFileHeaderBytes));
    QPERF_ASSIGN_OR_RETURN(const FileHeader header, decode_file_header(head));
    source_.skip(header.header_bytes);
    return {};
  }

  /// Up to the end of the file; where that lies inside a chunk, the next call goes on there.
  Result<void> read_chunks() {
    summary_.integrity.cut = false;
    for (bool more = true; more;) {
      QPERF_ASSIGN_OR_RETURN(more, next_chunk());
    }
    return {};
  }

  /// Samples that nobody asked for were passed over: those that count lie behind us.
  Result<void> read_last_samples() {
    for (const auto& [vcpu, chunk] : last_samples_) {
      const auto& [position, header] = chunk;
      QPERF_RETURN_IF_ERROR(source_.seek(position + kChunkHeaderBytes));
      QPERF_ASSIGN_OR_RETURN(const auto window, source_.peek(header.stored_bytes));
      const auto stored = window.first(std::min<size_t>(window.size(), header.stored_bytes));
      if (xxh3_64(stored) != header.payload_checksum) continue;  // another process has changed the file meanwhile
      QPERF_RETURN_IF_ERROR(stream_chunk(ChunkKind::kSamples, header, stored));
    }
    return {};
  }

  /// Header fields from the metadata so far.
  Result<void> take_header() {
    auto fields = header_of(summary_.metadata);
    if (!fields) return without_header(std::move(fields).error());
    summary_.header = *std::move(fields);
    return {};
  }

  /// The metadata stays, as more may follow.
  Result<const Summary*> so_far() {
    summary_.metadata = metadata_.metadata();
    QPERF_RETURN_IF_ERROR(take_header());
    return &summary_;
  }

 private:
  /// Reads or passes over one chunk; false at the end of the file.
  Result<bool> next_chunk() {
    QPERF_ASSIGN_OR_RETURN(auto window, source_.peek(kChunkHeaderBytes));
    if (window.empty()) return false;
    const auto header = decode_chunk_header(window);
    if (!header) return unreadable_header(window);

    if (auto lengths = check_lengths(*header); !lengths) {
      note_number(*header);
      count_damage(lengths.error());
      return search_from(kChunkHeaderBytes);
    }
    const size_t chunk_bytes = kChunkHeaderBytes + header->stored_bytes;
    QPERF_ASSIGN_OR_RETURN(window, source_.peek(chunk_bytes + kChunkHeaderBytes));
    if (window.size() < chunk_bytes) return cut_chunk(*header, window);
    const auto stored = window.subspan(kChunkHeaderBytes, header->stored_bytes);
    const bool in_order = note_number(*header);
    if (xxh3_64(stored) != header->payload_checksum) {
      count_damage({ErrorCode::kBadFormat, "the payload's checksum does not fit"});
      // The next chunk may stand earlier, if bytes were lost, or where it should be, if they were only changed.
      const auto next = window.subspan(chunk_bytes);
      if (!next.empty() && !decode_chunk_header(next)) return search_from(kChunkHeaderBytes);
    } else if (!in_order) {
      count_damage({ErrorCode::kBadFormat, "its number is that of an earlier chunk"});
    } else {
      QPERF_RETURN_IF_ERROR(whole_chunk(*header, stored));
    }
    source_.skip(chunk_bytes);
    return true;
  }

  Result<bool> unreadable_header(std::span<const std::byte> window) {
    const size_t magic_bytes = std::min(window.size(), kChunkMagic.size());
    const bool is_chunk =
        std::equal(window.begin(), window.begin() + static_cast<std::ptrdiff_t>(magic_bytes), kChunkMagic.begin());
    if (window.size() < kChunkHeaderBytes && is_chunk) {
      summary_.integrity.cut = true;
      return false;
    }
    if (is_chunk) {
      count_damage({ErrorCode::kBadFormat, "the chunk header's checksum does not fit"});
      ++headers_lost_;
    } else {
      note_damage("bytes that begin no chunk");
    }
    return search_from(std::min<size_t>(window.size(), 1));
  }

  /// The file ends before the chunk does, or bytes of the chunk were lost and others follow.
  Result<bool> cut_chunk(const ChunkHeader& header, std::span<const std::byte> rest) {
    if (find_chunk_header(rest.subspan(kChunkHeaderBytes)) == rest.size() - kChunkHeaderBytes) {
      summary_.integrity.cut = true;
      return false;
    }
    note_number(header);
    count_damage({ErrorCode::kTruncated, "bytes of the chunk are missing"});
    return search_from(kChunkHeaderBytes);
  }

  /// Goes to the next readable chunk header at least `passed` bytes ahead; false if there is none.
  Result<bool> search_from(size_t passed) {
    for (;;) {
      summary_.integrity.skipped_bytes += passed;
      source_.skip(passed);
      QPERF_ASSIGN_OR_RETURN(const auto window, source_.peek(kSearchBytes));
      passed = find_chunk_header(window);
      const bool found = passed < window.size();
      // The last bytes of a full window may begin a header that ends in the next one.
      if (!found && window.size() >= kSearchBytes) passed = window.size() - (kChunkHeaderBytes - 1);
      if (!found && window.size() >= kSearchBytes) continue;
      summary_.integrity.skipped_bytes += passed;
      source_.skip(passed);
      return found;
    }
  }

  /// Counts the chunks missing before this one; false if it stands behind a later one.
  bool note_number(const ChunkHeader& header) {
    if (header.number == kUnnumbered) return true;
    if (header.number < next_number_) return false;
    const uint64_t gap = header.number - next_number_;
    summary_.integrity.missing_chunks += gap - std::min(gap, headers_lost_);
    headers_lost_ = 0;
    next_number_ = uint64_t{header.number} + 1;
    return true;
  }

  /// A chunk whose bytes are as they were written. An Error is a handler's.
  Result<void> whole_chunk(const ChunkHeader& header, std::span<const std::byte> stored) {
    if (!is_known_kind(header.kind)) {
      ++summary_.integrity.unknown_chunks;
      return {};
    }
    const auto kind = static_cast<ChunkKind>(header.kind);
    if (auto fields = check_fields(header); !fields) return pass_over(fields.error());
    if (summary_.trailer && kind != ChunkKind::kMetadata)
      return pass_over({ErrorCode::kBadFormat, "a chunk behind the trailer"});
    if (kind == ChunkKind::kSamples && handlers_.last_samples) {
      last_samples_[header.vcpu] = {.position = source_.position(), .header = header};
      return {};
    }
    if (!is_wanted(kind)) return {};
    if (kind == ChunkKind::kSamples || kind == ChunkKind::kEvents || kind == ChunkKind::kCounts || kind == ChunkKind::kFingerprints)
      return stream_chunk(kind, header, stored);
    auto payload = raw_payload(header, stored, decompressor_);
    if (!payload) return pass_over(payload.error());
    if (kind == ChunkKind::kMetadata) return take(metadata_.add(*payload, header.record_count));
    return kind == ChunkKind::kLedger ? ledger(header, *payload) : trailer(header, *payload);
  }

  /// A chunk of records for a handler, which may look at them later.
  Result<void> stream_chunk(ChunkKind kind, const ChunkHeader& header, std::span<const std::byte> stored) {
    ChunkRoom& room = delivery_.room();
    room.kind = kind;
    room.position = source_.position();
    auto payload = raw_payload(header, stored, room.decompressor);
    if (!payload) return pass_over(payload.error());
    // One that is stored as it is lies in the source's buffer, which the next chunk takes.
    if (payload->data() == stored.data()) {
      room.stored.assign(stored.begin(), stored.end());
      *payload = room.stored;
    }
    switch (kind) {
      case ChunkKind::kSamples: return samples(header, *payload, room);
      case ChunkKind::kEvents: return events(header, *payload, room);
      case ChunkKind::kCounts: return counts(header, *payload, room);
      default: return fingerprints(header, *payload, room);
    }
  }

  [[nodiscard]] bool is_wanted(ChunkKind kind) const {
    if (kind == ChunkKind::kSamples) return handlers_.samples != nullptr || handlers_.packed_samples != nullptr;
    if (kind == ChunkKind::kEvents) return handlers_.events != nullptr;
    if (kind == ChunkKind::kCounts) return handlers_.counts != nullptr;
    if (kind == ChunkKind::kFingerprints) return handlers_.fingerprints != nullptr;
    return true;
  }

  Result<void> samples(const ChunkHeader& header, std::span<const std::byte> payload, ChunkRoom& room) {
    const auto packed = room.samples.decode(payload, VcpuIndex{header.vcpu}, header.record_count);
    if (!packed) return pass_over(packed.error());
    room.packed_samples = *packed;
    if (handlers_.number_sites) {
      handlers_.number_sites(packed->sites, room.site_numbers);
      room.packed_samples.site_numbers = room.site_numbers;
    }
    return delivery_.deliver();
  }

  Result<void> events(const ChunkHeader& header, std::span<const std::byte> payload, ChunkRoom& room) {
    const auto chunk = room.events.decode(payload, VcpuIndex{header.vcpu}, header.record_count);
    if (!chunk) return pass_over(chunk.error());
    room.event_chunk = *chunk;
    return delivery_.deliver();
  }

  Result<void> counts(const ChunkHeader& header, std::span<const std::byte> payload, ChunkRoom& room) {
    if (auto decoded = decode_counts(payload, header.record_count, room.counts); !decoded) return pass_over(decoded.error());
    return delivery_.deliver();
  }

  Result<void> fingerprints(const ChunkHeader& header, std::span<const std::byte> payload, ChunkRoom& room) {
    auto decoded = decode_fingerprints(payload, header.record_count);
    if (!decoded) return pass_over(decoded.error());
    room.fingerprints = *std::move(decoded);
    return delivery_.deliver();
  }

  Result<void> ledger(const ChunkHeader& header, std::span<const std::byte> payload) {
    auto decoded = decode_ledger(payload, header.record_count);
    if (!decoded) return pass_over(decoded.error());
    summary_.last_ledger = *std::move(decoded);
    return tell_ledger();
  }

  Result<void> trailer(const ChunkHeader& header, std::span<const std::byte> payload) {
    auto decoded = decode_trailer(payload, header.record_count);
    if (!decoded) return pass_over(decoded.error());
    summary_.last_ledger = decoded->ledger;
    summary_.trailer = *std::move(decoded);
    summary_.integrity.finished = true;
    return tell_ledger();
  }

  Result<void> tell_ledger() {
    if (!handlers_.ledger) return {};
    ChunkRoom& room = delivery_.room();
    room.kind = ChunkKind::kLedger;
    room.position = source_.position();
    room.ledger = *summary_.last_ledger;
    return delivery_.deliver();
  }

  Result<void> take(const Result<void>& decoded) { return decoded ? decoded : pass_over(decoded.error()); }

  Result<void> pass_over(const Error& damage) {
    count_damage(damage);
    return {};
  }

  void count_damage(const Error& damage) {
    ++summary_.integrity.damaged_chunks;
    note_damage(damage.message);
  }

  void note_damage(std::string_view what) {
    if (summary_.integrity.first_damage.empty())
      summary_.integrity.first_damage = fmt::format("at byte {}: {}", source_.position(), what);
  }

  /// Why a file without readable header is of no use, with the likely reason.
  [[nodiscard]] Error without_header(Error error) const {
    const std::string& damage = summary_.integrity.first_damage;
    if (summary_.metadata.empty() && damage.empty())
      return Error{ErrorCode::kTruncated, "ends before its first chunk does: nothing was recorded"};
    if (!damage.empty()) error.message += fmt::format(" (damaged {})", damage);
    return error;
  }

  ByteSource& source_;
  const Handlers& handlers_;
  Delivery& delivery_;
  Summary summary_;
  MetadataCollector metadata_;
  Decompressor decompressor_;
  struct PassedOver {
    uint64_t position = 0;
    ChunkHeader header;
  };
  std::map<uint32_t, PassedOver> last_samples_;  // the last chunk, by vCPU; with Handlers::last_samples
  uint64_t next_number_ = 0;
  uint64_t headers_lost_ = 0;  // damaged chunk headers since the last readable one: their numbers are not missing twice
};

Result<Summary> read_from(ByteSource& source, uint64_t size, const std::string& name, const Handlers& handlers) {
  DirectDelivery at_once(handle_with(handlers, size));
  auto summary = Reading(source, handlers, at_once).run();
  if (!summary) return std::move(summary).error().in(name);
  return summary;
}

}  // namespace

struct Follower::State {
  State(FileSource opened, Handlers wanted) : source(std::move(opened)), handlers(std::move(wanted)), at_once(handle_with(handlers, 0)), reading(source, handlers, at_once) {}
  FileSource source;
  const Handlers handlers;
  DirectDelivery at_once;
  Reading reading;
};

Follower::Follower(std::string path, std::unique_ptr<State> state) noexcept : path_(std::move(path)), state_(std::move(state)) {}
Follower::Follower(Follower&&) noexcept = default;
Follower& Follower::operator=(Follower&&) noexcept = default;
Follower::~Follower() = default;

Result<Follower> Follower::open(const std::string& path, Handlers handlers) {
  auto source = FileSource::open(path);
  if (!source) return std::move(source).error().in(path);
  auto state = std::make_unique<State>(*std::move(source), std::move(handlers));
  if (auto begun = state->reading.begin(); !begun) return std::move(begun).error().in(path);
  return Follower(path, std::move(state));
}

Result<const Summary*> Follower::read_more() {
  if (auto read = state_->reading.read_chunks(); !read) return std::move(read).error().in(path_);
  auto summary = state_->reading.so_far();
  if (!summary) return std::move(summary).error().in(path_);
  return summary;
}

Result<Summary> read_capture(const std::string& path, const Handlers& handlers) {
  if (path == "-")
    return Error{ErrorCode::kUsage, "a capture cannot be read from standard input: it is read more than once; give a file"};
  auto source = FileSource::open(path);
  if (!source) return std::move(source).error().in(path);
  const uint64_t size = source->size();
  if (size < kWorthAThread || !(handlers.samples || handlers.packed_samples || handlers.events))
    return read_from(*source, size, path, handlers);
  Summary summary;
  const auto produce = [&](Delivery& delivery) -> Result<void> {
    QPERF_ASSIGN_OR_RETURN(summary, Reading(*source, handlers, delivery).run());
    return {};
  };
  auto read = deliver_ahead(produce, handle_with(handlers, size));
  if (!read) return std::move(read).error().in(path);
  return summary;
}

Result<Summary> read_capture(std::span<const std::byte> bytes, const std::string& name, const Handlers& handlers) {
  MemorySource source(bytes);
  return read_from(source, bytes.size(), name, handlers);
}

}  // namespace qperf::capture
