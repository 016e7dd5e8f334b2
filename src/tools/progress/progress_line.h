#pragma once

#include <chrono>
#include <string>

#include "analysis/progress.h"

namespace qperf::tools {

/// Whether escape codes do what they should on this descriptor: a terminal whose TERM is not "dumb".
[[nodiscard]] bool knows_escape_codes(int fd);

/// One line on a terminal that says how far long work has come, redrawn in place and taken away at the end. Nothing is shown where
/// the descriptor is no terminal or TERM is "dumb", nor before the work has taken its time.
class ProgressLine final : public analysis::Progress {
 public:
  using Clock = std::chrono::steady_clock;

  /// `subject`: the file, untrusted. `fd`: where to draw, usually standard error.
  explicit ProgressLine(std::string_view subject, int fd, Clock::duration patience = std::chrono::milliseconds(500));
  ProgressLine(const ProgressLine&) = delete;
  ProgressLine& operator=(const ProgressLine&) = delete;
  ~ProgressLine() override;

  void step(std::string_view what, uint64_t done, uint64_t whole) override;
  /// Takes the line away, until the next step: before something else is written to the terminal.
  void clear();

 private:
  static constexpr std::chrono::milliseconds kRedraw{100};

  std::string subject_;
  int fd_;
  bool on_terminal_;
  bool drawn_ = false;
  Clock::time_point next_;
};

/// The text of the line: "qperf: a.bin: reading samples 43 %". What does not fit one row of `columns` columns is cut from the
/// subject's beginning: what is done and how far it is stays readable.
[[nodiscard]] std::string progress_text(std::string_view subject, std::string_view what, uint64_t done, uint64_t whole, size_t columns);

}  // namespace qperf::tools
