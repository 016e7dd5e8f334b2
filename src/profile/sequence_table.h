#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "base/checksum.h"
#include "profile/ids.h"

namespace qperf::profile {

/// Interns sequences of words: equal sequences share one id. All words lie in one array and a probe touches one hash before
/// it compares words, so that a stack that was seen before costs its XXH3 and one look-up. `Word` must be comparable by its
/// bytes.
template <typename Word>
  requires std::has_unique_object_representations_v<Word>
class SequenceTable {
 public:
  /// The id of the sequence, a new one if it was never seen. An empty sequence is a sequence.
  StackId intern(std::span<const Word> words) {
    const uint64_t hash = xxh3_64(std::as_bytes(words));
    size_t slot = find_slot(hash, words);
    if (slots_[slot].id_plus_1 != 0) return StackId{slots_[slot].id_plus_1 - 1};
    if ((entries_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = find_slot(hash, words);
    }
    words_.insert(words_.end(), words.begin(), words.end());
    entries_.push_back(Entry{.hash = hash, .end = words_.size()});
    slots_[slot] = Slot{.tag = tag_of(hash), .id_plus_1 = static_cast<uint32_t>(entries_.size())};
    return StackId{slots_[slot].id_plus_1 - 1};
  }

  /// Valid until the next intern().
  [[nodiscard]] std::span<const Word> operator[](StackId id) const noexcept {
    const size_t begin = id.raw == 0 ? 0 : entries_[id.raw - 1].end;
    return std::span(words_).subspan(begin, entries_[id.raw].end - begin);
  }

  /// Number of distinct sequences; ids are 0 .. size() - 1.
  [[nodiscard]] size_t size() const noexcept { return entries_.size(); }

 private:
  /// The tag (upper hash bits; the lower ones chose the slot) settles most probes without a look at the entry.
  struct Slot {
    uint32_t tag = 0;
    uint32_t id_plus_1 = 0;  // 0: free
  };
  struct Entry {
    uint64_t hash;
    size_t end;  // in words_
  };

  static uint32_t tag_of(uint64_t hash) noexcept { return static_cast<uint32_t>(hash >> 32); }

  [[nodiscard]] size_t find_slot(uint64_t hash, std::span<const Word> words) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    for (; slots_[slot].id_plus_1 != 0; slot = (slot + 1) & mask) {
      if (slots_[slot].tag != tag_of(hash)) continue;
      if (std::ranges::equal((*this)[StackId{slots_[slot].id_plus_1 - 1}], words)) break;
    }
    return slot;
  }

  void grow() {
    std::vector<Slot> larger(slots_.size() * 2);
    const size_t mask = larger.size() - 1;
    for (size_t id = 0; id < entries_.size(); ++id) {
      size_t slot = entries_[id].hash & mask;
      while (larger[slot].id_plus_1 != 0) slot = (slot + 1) & mask;
      larger[slot] = Slot{.tag = tag_of(entries_[id].hash), .id_plus_1 = static_cast<uint32_t>(id + 1)};
    }
    slots_ = std::move(larger);
  }

  std::vector<Word> words_;
  std::vector<Entry> entries_;
  std::vector<Slot> slots_ = std::vector<Slot>(1024);  // a power of two long
};

}  // namespace qperf::profile
