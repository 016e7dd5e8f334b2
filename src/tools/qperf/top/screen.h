#pragma once

#include <optional>
#include <string>
#include <vector>

#include "tools/qperf/top/live_profile.h"

namespace qperf::tools {

struct ScreenSize {
  size_t rows = 24;
  size_t columns = 80;
};

/// The lines that show a snapshot, at most `size.rows`, none wider than `size.columns` characters.
/// `note`: what else is to be said, or empty.
[[nodiscard]] std::vector<std::string> draw(const Snapshot& snapshot, const std::string& title, const std::string& note,
                                            ScreenSize size);

/// The terminal as a full-screen program has it: alternate screen, no echo, keys one by one. Everything is put back on every
/// way out: the destructor, exit(), the signals that end a program, and while it is suspended. Signals wait for key() to take them.
class FullScreen {
 public:
  FullScreen();
  ~FullScreen();
  FullScreen(const FullScreen&) = delete;
  FullScreen& operator=(const FullScreen&) = delete;

  [[nodiscard]] static ScreenSize size() noexcept;
  static void show(const std::vector<std::string>& lines);
  /// Waits for a key at most so long; also returns, without one, when the window's size has changed and after a suspension.
  [[nodiscard]] static std::optional<char> key(int timeout_ms);
  /// True once a signal has asked the program to end.
  [[nodiscard]] static bool must_end() noexcept;
};

}  // namespace qperf::tools
