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
    if (slots_[slot] != 0) return StackId{slots_[slot] - 1};
    if ((ends_.size() + 1) * 2 > slots_.size()) {
      grow();
      slot = find_slot(hash, words);
    }
    words_.insert(words_.end(), words.begin(), words.end());
    ends_.push_back(words_.size());
    hashes_.push_back(hash);
    slots_[slot] = static_cast<uint32_t>(ends_.size());
    return StackId{slots_[slot] - 1};
  }

  /// Valid until the next intern().
  [[nodiscard]] std::span<const Word> operator[](StackId id) const noexcept {
    const size_t begin = id.raw == 0 ? 0 : ends_[id.raw - 1];
    return std::span(words_).subspan(begin, ends_[id.raw] - begin);
  }

  /// Number of distinct sequences; ids are 0 .. size() - 1.
  [[nodiscard]] size_t size() const noexcept { return ends_.size(); }

 private:
  [[nodiscard]] size_t find_slot(uint64_t hash, std::span<const Word> words) const noexcept {
    const size_t mask = slots_.size() - 1;
    size_t slot = hash & mask;
    while (slots_[slot] != 0) {
      const StackId id{slots_[slot] - 1};
      if (hashes_[id.raw] == hash && std::ranges::equal((*this)[id], words)) break;
      slot = (slot + 1) & mask;
    }
    return slot;
  }

  void grow() {
    std::vector<uint32_t> larger(slots_.size() * 2, 0);
    const size_t mask = larger.size() - 1;
    for (size_t id = 0; id < hashes_.size(); ++id) {
      size_t slot = hashes_[id] & mask;
      while (larger[slot] != 0) slot = (slot + 1) & mask;
      larger[slot] = static_cast<uint32_t>(id + 1);
    }
    slots_ = std::move(larger);
  }

  std::vector<Word> words_;
  std::vector<size_t> ends_;
  std::vector<uint64_t> hashes_;
  std::vector<uint32_t> slots_ = std::vector<uint32_t>(1024, 0);  // id + 1; 0: free; a power of two long
};

}  // namespace qperf::profile
