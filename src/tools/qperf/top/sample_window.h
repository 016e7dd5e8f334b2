#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <optional>

#include "capture/records.h"

namespace qperf::tools {

/// More than a window can usefully show. Samples alone say little: a file can give each of them thousands of frames.
struct WindowBounds {
  size_t samples = 1'000'000;
  size_t frames = size_t{1} << 22;
  size_t bytes = size_t{256} << 20;
};

/// The newest samples of a capture, with the sites that they use. Beyond the bounds the oldest chunks go first; one chunk always stays,
/// whose size the capture's limits bound.
class SampleWindow {
 public:
  explicit SampleWindow(WindowBounds bounds = {}) : bounds_(bounds) {}

  /// A chunk without samples is nothing.
  void keep(const capture::SampleChunk& chunk);
  /// Drops chunks that end before `from`.
  void forget_before(WallNs from);

  /// By the time they were written.
  [[nodiscard]] const std::deque<capture::SampleChunk>& chunks() const noexcept { return chunks_; }
  [[nodiscard]] size_t samples() const noexcept { return held_.samples; }
  [[nodiscard]] size_t frames() const noexcept { return held_.frames; }
  [[nodiscard]] size_t bytes() const noexcept { return held_.bytes; }
  /// The end of what the bounds have dropped; nullopt: nothing.
  [[nodiscard]] std::optional<WallNs> dropped_until() const noexcept { return dropped_until_; }

 private:
  static WindowBounds size_of(const capture::SampleChunk& chunk) noexcept;
  [[nodiscard]] bool too_large() const noexcept;
  void forget_front();

  WindowBounds bounds_;
  WindowBounds held_{.samples = 0, .frames = 0, .bytes = 0};
  std::deque<capture::SampleChunk> chunks_;
  std::optional<WallNs> dropped_until_;
};

}  // namespace qperf::tools
