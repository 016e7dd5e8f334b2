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
                                             Mutex& mutex = mutexes_[address];
                                             mutex.waits[&site(file, line)].push_back({event.time_ns, !mutex.holders.empty()});
                                           });
  on<uint64_t, std::string_view, uint64_t>("qemu_mutex_locked", {"mutex", "file", "line"},
                                           [this](const Event& event, uint64_t address, std::string_view file, uint64_t line) {
                                             Site& taker = site(file, line);
                                             Mutex& mutex = mutexes_[address];
                                             ++taker.acquired;
                                             if (mutex.sites.emplace(&taker, true).second) ++taker.mutexes;
                                             auto& waits = mutex.waits[&taker];
                                             if (!waits.empty()) {
                                               taker.wait_ns.add(since(event.time_ns, waits.front().since_ns));
                                               if (waits.front().contended) ++taker.contended;
                                               waits.pop_front();
                                             }
                                             mutex.holders.push_back({&taker, event.time_ns});
                                           });
  on<uint64_t>("qemu_mutex_unlock", {"mutex"}, [this](const Event& event, uint64_t address) {
    Mutex& mutex = mutexes_[address];
    if (mutex.holders.empty()) {
      ++unlocks_without_lock_;
      return;
    }
    mutex.holders.front().site->hold_ns.add(since(event.time_ns, mutex.holders.front().since_ns));
    mutex.holders.pop_front();
  });
}

LockProfile::Site& LockProfile::site(std::string_view file, uint64_t line) {
  const auto [at, fresh] = sites_.try_emplace({std::string(file), line});
  if (fresh) at->second.place = printable(file) + ":" + std::to_string(line);
  return at->second;
}

void LockProfile::forget_open() {
  for (auto& [address, mutex] : mutexes_) {
    unfinished_ += mutex.holders.size();
    mutex.holders.clear();
    for (auto& [place, waits] : mutex.waits) {
      unfinished_ += waits.size();
      waits.clear();
    }
  }
}

// A matching across a loss would pair strangers.
void LockProfile::lost(const Event&, uint64_t) { forget_open(); }

void LockProfile::end(const ReadReport&) { forget_open(); }

std::vector<const LockProfile::Site*> LockProfile::sites() const {
  std::vector<const Site*> out;
  for (const auto& [key, site] : sites_) out.push_back(&site);
  std::stable_sort(out.begin(), out.end(), [](const Site* a, const Site* b) {
    return a->wait_ns.total() != b->wait_ns.total() ? a->wait_ns.total() > b->wait_ns.total() : a->place < b->place;
  });
  return out;
}

}  // namespace qperf::qemutrace
