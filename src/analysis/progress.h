#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace qperf::analysis {

/// Told how far a long step has come, on the thread that asked for the work. Calls come often: it decides what it shows.
class Progress {
 public:
  virtual ~Progress() = default;
  /// `done` of `whole`; whole 0: not known. `what`: "reading samples", ...
  virtual void step(std::string_view what, uint64_t done, uint64_t whole) = 0;
};

/// A handler for capture::Handlers::progress that tells `progress`, which outlives it; none for nullptr.
[[nodiscard]] inline std::function<void(uint64_t, uint64_t)> progress_of(Progress* progress, std::string_view what) {
  if (progress == nullptr) return nullptr;
  return [progress, text = std::string(what)](uint64_t done, uint64_t whole) { progress->step(text, done, whole); };
}

}  // namespace qperf::analysis
