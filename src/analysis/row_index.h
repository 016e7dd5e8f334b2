#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/keyed_hash.h"
#include "profile/ids.h"

namespace qperf::analysis {

/// What one row of sums is of.
struct RowKey {
  uint32_t vcpu = 0;
  uint32_t era = 0;
  uint32_t root = 0;
  uint32_t site = 0;
  friend constexpr auto operator<=>(const RowKey&, const RowKey&) = default;

  [[nodiscard]] uint64_t hash() const noexcept {
    return keyed_hash(uint64_t{root} << 32 | site, uint64_t{vcpu} << 32 | era);
  }
};

/// Rows by key. With tasks and vCPUs told apart there are more rows than a processor's caches hold, so key and row lie in one place,
/// which can be asked for ahead of its use.
class RowIndex {
 public:
  /// `hash` is the key's own, here and below.
  void prefetch(uint64_t hash) const noexcept { __builtin_prefetch(&slots_[hash & (slots_.size() - 1)]); }

  [[nodiscard]] std::optional<uint32_t> find(const RowKey& key, uint64_t hash) const noexcept {
    const Slot& slot = slots_[slot_of(key, hash)];
    if (slot.row_plus_1 == 0) return std::nullopt;
    return slot.row_plus_1 - 1;
  }

  /// A key that find() does not know. `row` is below the largest number.
  void insert(const RowKey& key, uint64_t hash, uint32_t row) {
    if (++used_ * 2 > slots_.size()) grow();
    slots_[slot_of(key, hash)] = {.key = key, .row_plus_1 = row + 1};
  }

 private:
  struct Slot {
    RowKey key;
    uint32_t row_plus_1 = 0;  // 0: free
  };

  /// The key's slot, or the free one where it belongs.
  [[nodiscard]] size_t slot_of(const RowKey& key, uint64_t hash) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot].row_plus_1 != 0 && slots_[slot].key != key) slot = (slot + 1) & mask;
    return slot;
  }

  void grow() {
    std::vector<Slot> old(slots_.size() * 2);
    old.swap(slots_);
    for (const Slot& slot : old)
      if (slot.row_plus_1 != 0) slots_[slot_of(slot.key, slot.key.hash())] = slot;
  }

  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two long
  size_t used_ = 0;
};

}  // namespace qperf::analysis
