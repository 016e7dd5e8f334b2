#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "profile/frame_table.h"
#include "report/costs.h"
#include "report/row.h"

namespace qperf::report {

/// One recording to be compared.
struct Run {
  std::vector<Row> rows;
  /// A weight times this is a value that runs can be compared by: a share, a time per second, ...
  double value_per_weight = 1;
  /// Samples behind the rows; 0: counted exactly, without a sampling error.
  uint64_t samples = 0;
};

/// A function's name without what changes from build to build: Rust's hash, and clone suffixes such as `.llvm.N`. Names from an
/// ELF lack them already; those of foreign profiles may not.
[[nodiscard]] std::string stable_name(std::string_view name);

/// Keys by stable_name(), whatever the file and line.
[[nodiscard]] FrameKeys keys_by_stable_name(const profile::FrameTable& frames);

/// One value of two sides, means over their runs.
struct Change {
  double before = 0;
  double after = 0;
  /// A difference up to this is chance: docs/diff.md. nullopt: it cannot be told.
  std::optional<double> noise;

  [[nodiscard]] double delta() const noexcept { return after - before; }
  [[nodiscard]] bool counts() const noexcept { return noise && (delta() > *noise || -delta() > *noise); }
};

struct FunctionChange {
  uint32_t key = 0;
  Change self;
  Change total;
  bool in_before = false;  // has weight in some run of the side
  bool in_after = false;
};

struct Comparison {
  std::vector<FunctionChange> functions;  // by key, those that any run has
  Change all;                             // the runs' sums
};

/// One recording's weights by any key, such as a place in a call tree. `self` and `total` are of one length, that of all runs.
struct KeyedRun {
  std::vector<double> self;
  std::vector<double> total;
  double sum = 0;  // of all weights
  double value_per_weight = 1;
  uint64_t samples = 0;  // as Run::samples
};

/// Compares two sides of at least one run each.
[[nodiscard]] Comparison compare(std::span<const KeyedRun> before, std::span<const KeyedRun> after);
[[nodiscard]] Comparison compare(std::span<const Run> before, std::span<const Run> after, const FrameKeys& keys,
                                 const profile::NamedStacks& names);

}  // namespace qperf::report
