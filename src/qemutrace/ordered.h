#pragma once

#include <cstdint>
#include <deque>
#include <queue>
#include <string>
#include <vector>

#include "qemutrace/source.h"

namespace qperf::qemutrace {

/// The events of another source in the order of their times, within a bounded window.
///
/// QEMU stamps an event before it takes its place in the file, so records of different threads can be swapped by microseconds;
/// and it writes a loss record before the older records that its buffer still held. Both come right by sorting: a loss then
/// stands where it happened, before the first record later than the buffer's old contents. Equal times keep the file's order;
/// traces without times pass unchanged.
class OrderedSource final : public EventSource {
 public:
  /// Swapped records are a few places apart. A loss needs no larger window: stamped later than what follows it, it stays behind
  /// until records later than itself have filled the window.
  static constexpr size_t kDefaultWindow = 1024;

  explicit OrderedSource(EventSource& source, size_t window = kDefaultWindow) : source_(source), window_(window) {}

  bool next(Event& event) override;
  [[nodiscard]] const ReadReport& report() const noexcept override { return source_.report(); }
  [[nodiscard]] TraceClock clock() const noexcept override { return source_.clock(); }
  [[nodiscard]] std::string description() const override { return source_.description(); }
  [[nodiscard]] size_t event_kinds() const noexcept override { return source_.event_kinds(); }

  /// Records that stood after a later one in the file.
  [[nodiscard]] uint64_t inversions() const noexcept { return inversions_; }
  /// Records older than what had already been handed out: the window was too small for them.
  [[nodiscard]] uint64_t too_late() const noexcept { return too_late_; }

 private:
  struct Held {
    Event event;
    std::string strings;  // what the event's views point into
  };
  struct Place {
    uint64_t time_ns;
    uint64_t sequence;
    size_t slot;
    friend bool operator>(const Place& a, const Place& b) noexcept {
      return a.time_ns != b.time_ns ? a.time_ns > b.time_ns : a.sequence > b.sequence;
    }
  };
  void hold(const Event& event);

  EventSource& source_;
  size_t window_;
  bool drained_ = false;
  std::deque<Held> slots_;
  std::vector<size_t> free_slots_;
  std::priority_queue<Place, std::vector<Place>, std::greater<>> waiting_;
  std::optional<size_t> out_;  // slot of the event last handed out: its strings are still in use
  uint64_t sequence_ = 0;
  uint64_t latest_read_ns_ = 0;
  uint64_t latest_out_ns_ = 0;
  uint64_t inversions_ = 0;
  uint64_t too_late_ = 0;
};

}  // namespace qperf::qemutrace
