#pragma once

#include <cstdint>
#include <list>
#include <map>
#include <set>
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
/// it: holders leave in the order in which they came. Where no unlock was recorded, nobody is known to hold anything.
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
  /// Places and mutexes beyond these are left out: a trace cannot make memory grow without bound.
  static constexpr size_t kMaxSites = 65'536;
  static constexpr size_t kMaxMutexes = 262'144;
  /// Waiting at once for all of them, and holding one of them.
  static constexpr size_t kMaxWaits = 262'144;
  static constexpr size_t kMaxHolders = 4096;
  /// Events that would have needed more.
  [[nodiscard]] uint64_t left_out() const noexcept { return left_out_; }
  /// False: no unlock in the trace, so that holds and who was waited for are not known.
  [[nodiscard]] bool unlocks_seen() const noexcept { return unlocks_seen_; }
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
    std::list<Holder> holders;
    std::map<const Site*, std::list<Wait>> waits;
    std::set<const Site*> sites;
    uint64_t losses = 0;  // before it was last looked at: what is open from before a later one is forgotten at the next look
  };
  void wait(const Event& event, uint64_t address, std::string_view file, uint64_t line);
  void take(const Event& event, uint64_t address, std::string_view file, uint64_t line);
  void release(const Event& event, uint64_t address);
  /// nullptr beyond kMaxSites and kMaxMutexes.
  Site* site(std::string_view file, uint64_t line);
  Mutex* mutex(uint64_t address);
  void forget_open(Mutex& mutex);
  bool room_for_wait();

  std::map<std::pair<std::string, uint64_t>, Site> sites_;
  std::map<uint64_t, Mutex> mutexes_;
  size_t waits_ = 0;  // of all mutexes
  uint64_t losses_ = 0;
  uint64_t swept_after_ = 0;  // losses: what was open before them is forgotten everywhere
  uint64_t left_out_ = 0;
  bool unlocks_seen_ = false;
  uint64_t unfinished_ = 0;
  uint64_t unlocks_without_lock_ = 0;
};

}  // namespace qperf::qemutrace
