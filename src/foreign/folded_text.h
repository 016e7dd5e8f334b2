#pragma once

#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "foreign/host_sample.h"

namespace qperf::foreign {

/// Reads folded stacks: "root;...;leaf count" lines.
class FoldedReader {
 public:
  explicit FoldedReader(SampleSink& sink) : sink_(sink) {}

  [[nodiscard]] Result<void> line(std::string_view line, bool cut);
  [[nodiscard]] const ReadCounts& counts() const noexcept { return counts_; }

  struct Line {
    std::string_view stack;
    uint64_t count = 0;
  };
  /// nullopt: no such line.
  [[nodiscard]] static std::optional<Line> parse(std::string_view line);

 private:
  SampleSink& sink_;
  ReadCounts counts_;
  uint64_t lines_ = 0;
};

}  // namespace qperf::foreign
