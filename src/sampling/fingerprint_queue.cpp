#include "sampling/fingerprint_queue.h"

#include <algorithm>

#include "sampling/clock.h"

namespace qperf::sampling {

FingerprintQueue::FingerprintQueue() noexcept {
  for (size_t i = 0; i < kCapacity; ++i) cells_[i].turn.store(i, std::memory_order_relaxed);  // nobody else looks yet
}

uint64_t FingerprintQueue::token_ns() const noexcept {
  return kNsPerSecond / (spent_.load(std::memory_order_relaxed) < kEager ? kPerSecond : kPerSecondLater);
}

// A token is a stretch of time; what has been spent may run at most kBurst tokens ahead of the clock.
// Relaxed throughout: the bucket is one word and guards no other data.
bool FingerprintQueue::has_budget(WallNs now) const noexcept {
  const uint64_t spent_until = std::max(empty_at_ns_.load(std::memory_order_relaxed), now);
  return spent_until + token_ns() - now <= kBurst * token_ns();
}

bool FingerprintQueue::take_budget(WallNs now) noexcept {
  const uint64_t token = token_ns();
  uint64_t spent_until = empty_at_ns_.load(std::memory_order_relaxed);
  while (true) {
    const uint64_t next = std::max(spent_until, now) + token;
    if (next - now > kBurst * token) return false;
    if (empty_at_ns_.compare_exchange_weak(spent_until, next, std::memory_order_relaxed)) break;
  }
  spent_.fetch_add(1, std::memory_order_relaxed);
  return true;
}

bool FingerprintQueue::push(WallNs now, GuestVa address, std::span<const std::byte> bytes) noexcept {
  uint64_t ticket = pushes_.load(std::memory_order_relaxed);
  while (true) {
    Cell& cell = cells_[ticket % kCapacity];
    // Pairs with the release in pop(): the cell has been read out.
    const uint64_t turn = cell.turn.load(std::memory_order_acquire);
    if (turn < ticket) {
      dropped_.fetch_add(1, std::memory_order_relaxed);  // a statistic, orders nothing
      return false;
    }
    if (turn > ticket) {
      ticket = pushes_.load(std::memory_order_relaxed);
      continue;
    }
    // Relaxed: the ticket only decides who owns the cell; its contents are ordered by `turn`.
    if (!pushes_.compare_exchange_weak(ticket, ticket + 1, std::memory_order_relaxed)) continue;
    cell.item.wall_ns = now;
    cell.item.address = address;
    cell.item.size_bytes = static_cast<uint32_t>(std::min(bytes.size(), kMaxBytes));
    std::copy_n(bytes.begin(), cell.item.size_bytes, cell.item.bytes.begin());
    // Pairs with the acquire in pop(): the item is visible before its turn.
    cell.turn.store(ticket + 1, std::memory_order_release);
    return true;
  }
}

bool FingerprintQueue::pop(Item& item) noexcept {
  Cell& cell = cells_[pops_ % kCapacity];
  // Pairs with the release in push().
  if (cell.turn.load(std::memory_order_acquire) != pops_ + 1) return false;
  item = cell.item;
  // Pairs with the acquire in push(): free for the push one round later.
  cell.turn.store(pops_ + kCapacity, std::memory_order_release);
  ++pops_;
  return true;
}

}  // namespace qperf::sampling
