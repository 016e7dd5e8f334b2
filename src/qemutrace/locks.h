#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "qemutrace/analyzer.h"
#include "qemutrace/distribution.h"

namespace qperf::qemutrace {

/// QEMU's mutexes by the place in its source that takes them: how long a taker waits and holds.
///
/// The simple back end stores no thread id, so a wait is matched by mutex and place: the first `qemu_mutex_lock` there with the
/// first `qemu_mutex_locked`. The unlock event comes after the mutex is free, so the next holder's `locked` may stand before
/// it: holders leave in the order in which they came.
class LockProfile final : public Analyzer {
 public:
  LockProfile();

  struct Site {
    std::string place;  // FILE:LINE, printable
    uint64_t acquired = 0;
    uint64_t contended = 0;  // somebody held the mutex when the wait began
    uint64_t mutexes = 0;    // different ones taken here
    Distribution wait_ns;    // of acquisitions with a `qemu_mutex_lock` (a try-lock has none)
    Distribution hold_ns;
  };
  void lost(const Event& event, uint64_t count) override;
  void end(const ReadReport& report) override;

  /// Longest total wait first, then by place.
  [[nodiscard]] std::vector<const Site*> sites() const;
  /// Waits and holds cut off by a loss or by the end of the trace.
  [[nodiscard]] uint64_t unfinished() const noexcept { return unfinished_; }
  [[nodiscard]] uint64_t unlocks_without_lock() const noexcept { return unlocks_without_lock_; }

 private:
  struct Holder {
    Site* site;
    uint64_t since_ns;
  };
  struct Wait {
    uint64_t since_ns;
    bool contended;
  };
  struct Mutex {
    std::deque<Holder> holders;
    std::map<const Site*, std::deque<Wait>> waits;
    std::map<const Site*, bool> sites;
  };
  Site& site(std::string_view file, uint64_t line);
  void forget_open();

  std::map<std::pair<std::string, uint64_t>, Site> sites_;
  std::map<uint64_t, Mutex> mutexes_;
  uint64_t unfinished_ = 0;
  uint64_t unlocks_without_lock_ = 0;
};

}  // namespace qperf::qemutrace
