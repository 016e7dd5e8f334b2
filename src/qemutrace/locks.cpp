#include "qemutrace/locks.h"

#include <algorithm>

#include "base/printable.h"

namespace qperf::qemutrace {
namespace {

uint64_t since(uint64_t now_ns, uint64_t then_ns) { return now_ns - std::min(now_ns, then_ns); }

}  // namespace

LockProfile::LockProfile() {
  on<uint64_t, std::string_view, uint64_t>("qemu_mutex_lock", {"mutex", "file", "line"},
                                           [this](const Event& event, uint64_t address, std::string_view file, uint64_t line) {
                                             wait(event, address, file, line);
                                           });
  on<uint64_t, std::string_view, uint64_t>("qemu_mutex_locked", {"mutex", "file", "line"},
                                           [this](const Event& event, uint64_t address, std::string_view file, uint64_t line) {
                                             take(event, address, file, line);
                                           });
  on<uint64_t>("qemu_mutex_unlock", {"mutex"}, [this](const Event& event, uint64_t address) { release(event, address); });
}

void LockProfile::wait(const Event& event, uint64_t address, std::string_view file, uint64_t line) {
  Mutex* const of = mutex(address);
  Site* const taker = site(file, line);
  if (of == nullptr || taker == nullptr || !room_for_wait()) {
    ++left_out_;
    return;
  }
  of->waits[taker].push_back({event.time_ns, !of->holders.empty()});
  ++waits_;
}

void LockProfile::take(const Event& event, uint64_t address, std::string_view file, uint64_t line) {
  Mutex* const of = mutex(address);
  Site* const taker = site(file, line);
  if (of == nullptr || taker == nullptr) {
    ++left_out_;
    return;
  }
  ++taker->acquired;
  if (of->sites.insert(taker).second) ++taker->mutexes;
  if (const auto waits = of->waits.find(taker); waits != of->waits.end() && !waits->second.empty()) {
    const Wait& wait = waits->second.front();
    taker->wait_ns.add(since(event.time_ns, wait.since_ns));
    if (wait.contended) ++taker->contended;
    waits->second.pop_front();
    --waits_;
  }
  if (of->holders.size() >= kMaxHolders) {  // nobody unlocks: what the oldest holds has no end in the trace
    of->holders.pop_front();
    ++unfinished_;
  }
  of->holders.push_back({taker, event.time_ns});
}

void LockProfile::release(const Event& event, uint64_t address) {
  unlocks_seen_ = true;
  Mutex* const of = mutex(address);
  if (of == nullptr) {
    ++left_out_;
    return;
  }
  if (of->holders.empty()) {
    ++unlocks_without_lock_;
    return;
  }
  of->holders.front().site->hold_ns.add(since(event.time_ns, of->holders.front().since_ns));
  of->holders.pop_front();
}

LockProfile::Site* LockProfile::site(std::string_view file, uint64_t line) {
  std::pair<std::string, uint64_t> key(file, line);
  if (const auto found = sites_.find(key); found != sites_.end()) return &found->second;
  if (sites_.size() >= kMaxSites) return nullptr;
  Site& made = sites_[std::move(key)];
  made.place = printable(file) + ":" + std::to_string(line);
  return &made;
}

LockProfile::Mutex* LockProfile::mutex(uint64_t address) {
  auto found = mutexes_.find(address);
  if (found == mutexes_.end()) {
    if (mutexes_.size() >= kMaxMutexes) return nullptr;
    found = mutexes_.emplace(address, Mutex()).first;
    found->second.losses = losses_;
  }
  // A matching across a loss would pair strangers. A loss costs nothing itself: a trace may have as many as it has mutexes.
  if (found->second.losses != losses_) forget_open(found->second);
  found->second.losses = losses_;
  return &found->second;
}

void LockProfile::forget_open(Mutex& mutex) {
  unfinished_ += mutex.holders.size();
  mutex.holders.clear();
  for (const auto& [place, waits] : mutex.waits) {
    unfinished_ += waits.size();
    waits_ -= waits.size();
  }
  mutex.waits.clear();
}

/// Makes room by what a loss has ended; that is all of it, so that the next time is far away.
bool LockProfile::room_for_wait() {
  if (waits_ < kMaxWaits) return true;
  if (swept_after_ == losses_) return false;
  for (auto& [address, mutex] : mutexes_) {
    if (mutex.losses != losses_) forget_open(mutex);
    mutex.losses = losses_;
  }
  swept_after_ = losses_;
  return waits_ < kMaxWaits;
}

void LockProfile::lost(const Event&, uint64_t) { ++losses_; }

void LockProfile::end(const ReadReport&) {
  for (auto& [address, mutex] : mutexes_) forget_open(mutex);
}

std::vector<const LockProfile::Site*> LockProfile::sites() const {
  std::vector<const Site*> out;
  for (const auto& [key, site] : sites_) out.push_back(&site);
  std::stable_sort(out.begin(), out.end(), [](const Site* a, const Site* b) {
    return a->wait_ns.total() != b->wait_ns.total() ? a->wait_ns.total() > b->wait_ns.total() : a->place < b->place;
  });
  return out;
}

}  // namespace qperf::qemutrace
