#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "qemutrace/input.h"

namespace qperf::qemutrace {

/// One line of blkparse's default output.
struct BlkEvent {
  uint32_t device_major = 0;
  uint32_t device_minor = 0;
  uint32_t cpu = 0;
  uint64_t sequence = 0;
  uint64_t time_ns = 0;  // since blktrace was started
  uint32_t pid = 0;
  char action = 0;       // Q queued, G got, I inserted, M and F merged, D issued, C completed, X split, A remapped, ...
  bool is_read = false;
  bool is_write = false;
  bool is_flush = false;  // F before or after the direction: a barrier with it
  bool is_discard = false;
  bool is_sync = false;
  bool is_readahead = false;
  bool has_extent = false;
  uint64_t sector = 0;   // of 512 bytes
  uint64_t sectors = 0;
};

/// nullopt: not an event line (a message, a line of the summary, anything else).
[[nodiscard]] std::optional<BlkEvent> parse_blkparse_line(std::string_view line);

/// A whole blkparse text.
struct BlkTrace {
  std::vector<BlkEvent> events;  // those with an extent or of kind C, in the file's order
  uint64_t other_events = 0;     // plug, unplug, requests without an extent: parsed, of no use here
  uint64_t other_lines = 0;
  uint64_t left_out = 0;         // beyond kMaxEvents
  static constexpr size_t kMaxEvents = size_t{8} << 20;
};

[[nodiscard]] BlkTrace parse_blkparse(std::string_view text);
/// An Error: not readable, or without a single event. At most 2 GiB are read.
[[nodiscard]] Result<BlkTrace> load_blkparse(const std::string& path, Input::Options options = {});

}  // namespace qperf::qemutrace
