#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/pattern.h"

namespace qperf::tools {

/// When samples are taken: from the start or from a line of the guest's console on, after a delay, up to another line.
/// Every later pair of such lines is another stretch. Knows no clock: all times are the caller's, in ns, and only ever grow.
class Gate {
 public:
  struct Rules {
    std::optional<Pattern> start_on;  // nullopt: from the beginning
    std::optional<Pattern> stop_on;
    uint64_t delay_ns = 0;  // after the beginning, or after the line
  };
  explicit Gate(Rules rules) : rules_(std::move(rules)) {}

  /// QEMU runs.
  void begin(uint64_t now_ns);
  /// A line of the console; an unfinished one is shown as it grows and then whole. Each line counts once.
  void line(std::string_view text, bool whole, uint64_t now_ns);
  /// Must be called at due_ns() at the latest.
  void tick(uint64_t now_ns);

  /// Whether samples are wanted now.
  [[nodiscard]] bool is_open() const noexcept { return open_; }
  /// When tick() has something to do.
  [[nodiscard]] std::optional<uint64_t> due_ns() const noexcept { return opens_at_ns_; }
  /// When it opened for the first time.
  [[nodiscard]] std::optional<uint64_t> first_open_ns() const noexcept { return first_open_ns_; }

 private:
  Rules rules_;
  bool open_ = false;
  bool line_counted_ = false;  // the unfinished line at hand has done its work
  std::optional<uint64_t> opens_at_ns_;
  std::optional<uint64_t> first_open_ns_;
};

}  // namespace qperf::tools
