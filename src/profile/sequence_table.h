#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

#include "base/keyed_hash.h"
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
  StackId intern(std::span<const Word> words) { return intern(words, hash_of(words)); }

  static constexpr size_t kBatch = 32;

  /// The same for at most kBatch sequences, ids[i] for sequences[i]. A table larger than the processor's caches makes each of a
  /// look-up's three steps wait for memory; here the waits of a batch overlap, which halves its time.
  void intern_batch(std::span<const std::span<const Word>> sequences, std::span<StackId> ids) {
    std::array<uint64_t, kBatch> hashes;
    for (size_t i = 0; i < sequences.size(); ++i) {
      hashes[i] = hash_of(sequences[i]);
      __builtin_prefetch(&slots_[hashes[i] & (slots_.size() - 1)]);
    }
    for (size_t i = 0; i < sequences.size(); ++i)
      if (const auto id = likely_id(hashes[i])) __builtin_prefetch(&entries_[id->raw]);
    for (size_t i = 0; i < sequences.size(); ++i)
      if (const auto id = likely_id(hashes[i])) prefetch_words(*id);
    for (size_t i = 0; i < sequences.size(); ++i) ids[i] = intern(sequences[i], hashes[i]);
  }

  /// Valid until the next intern().
  [[nodiscard]] std::span<const Word> operator[](StackId id) const noexcept {
    const size_t begin = id.raw == 0 ? 0 : entries_[id.raw - 1].end;
    return std::span(words_).subspan(begin, entries_[id.raw].end - begin);
  }

  /// Number of distinct sequences; ids are 0 .. size() - 1.
  [[nodiscard]] size_t size() const noexcept { return entries_.size(); }
  /// Number of words of all of them.
  [[nodiscard]] size_t words() const noexcept { return words_.size(); }

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

  static uint64_t hash_of(std::span<const Word> words) noexcept { return keyed_hash(std::as_bytes(words)); }

  StackId intern(std::span<const Word> words, uint64_t hash) {
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

  /// The sequence in the hash's first slot, if it may be the one.
  [[nodiscard]] std::optional<StackId> likely_id(uint64_t hash) const noexcept {
    const Slot& slot = slots_[hash & (slots_.size() - 1)];
    if (slot.id_plus_1 == 0 || slot.tag != tag_of(hash)) return std::nullopt;
    return StackId{slot.id_plus_1 - 1};
  }

  void prefetch_words(StackId id) const noexcept {
    constexpr size_t kCacheLineBytes = 64;
    const auto bytes = std::as_bytes((*this)[id]);
    // Most sequences are no longer than this.
    for (size_t at = 0; at < std::min(bytes.size(), 3 * kCacheLineBytes); at += kCacheLineBytes)
      __builtin_prefetch(bytes.data() + at);
  }

  [[nodiscard]] size_t find_slot(uint64_t hash, std::span<const Word> words) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    for (; slots_[slot].id_plus_1 != 0; slot = (slot + 1) & mask) {
      if (slots_[slot].tag != tag_of(hash)) continue;
      const auto found = (*this)[StackId{slots_[slot].id_plus_1 - 1}];
      if (found.size() == words.size() && (words.empty() || std::memcmp(found.data(), words.data(), words.size_bytes()) == 0))
        break;
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
