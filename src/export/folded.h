#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "export/text_sink.h"
#include "profile/frame_table.h"
#include "profile/ids.h"

namespace qperf::exporter {

/// One line to be: a stack under an optional root frame, with its counts.
struct FoldedRow {
  std::optional<profile::FrameId> root;
  profile::StackId stack;
  uint64_t count = 0;   // the only one, or the one before
  uint64_t count2 = 0;  // after; used with kTwo
};

enum class FoldedCounts : uint8_t { kOne, kTwo };

/// A name as a frame of a folded line: no ';', no control bytes, trimmed, never empty.
[[nodiscard]] std::string folded_frame(std::string_view name);

/// The same as the last frame of a line: readers would take a trailing bare number for a count, so it gets a '_'.
[[nodiscard]] std::string folded_leaf(std::string_view name);

/// Writes `frame;frame;leaf count[ count2]` lines, root first. Rows whose text is equal are added up, rows that are all zero
/// left out, lines sorted by the bytes of their stacks. An empty stack without root is `[unknown]`.
void write_folded(const profile::NamedStacks& names, std::span<const FoldedRow> rows, FoldedCounts counts, TextSink& sink);

}  // namespace qperf::exporter
