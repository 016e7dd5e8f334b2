#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "unwind/frame_walk.h"

namespace qperf::unwind {

/// Guest memory as a map of words, for tests. Counts what is asked of it and notes any read that a walk must not make.
class FakeMemory final : public MemoryReader {
 public:
  explicit FakeMemory(GuestRange allowed = guest::kDefaultKernelRange) : allowed_({allowed}) {}
  explicit FakeMemory(std::vector<GuestRange> allowed) : allowed_(std::move(allowed)) {}

  void put(GuestVa address, uint64_t word) { words_[address.raw] = word; }
  void unmap_page(GuestVa address) { unmapped_pages_[address.raw / kPageBytes] = true; }

  std::span<const std::byte> read(GuestVa address, size_t size_bytes) noexcept override {
    ++reads;
    const GuestVa last{address.raw + size_bytes - 1};
    const auto inside = [&](const GuestRange& range) { return range.contains(address) && range.contains(last); };
    if (last < address || std::ranges::none_of(allowed_, inside)) ++forbidden_reads;
    if (address.raw / kPageBytes != last.raw / kPageBytes) ++forbidden_reads;
    if (unmapped_pages_.contains(address.raw / kPageBytes)) return {};
    bytes_.assign(size_bytes, std::byte{0xcc});
    for (auto word = words_.lower_bound(address.raw); word != words_.end() && word->first <= last.raw; ++word)
      for (size_t i = 0; i < 8 && word->first + i <= last.raw; ++i)
        bytes_[word->first - address.raw + i] = static_cast<std::byte>(word->second >> (8 * i));
    return bytes_;
  }

  size_t reads = 0;
  size_t forbidden_reads = 0;

 private:
  std::vector<GuestRange> allowed_;
  std::map<uint64_t, uint64_t> words_;
  std::map<uint64_t, bool> unmapped_pages_;
  std::vector<std::byte> bytes_;
};

}  // namespace qperf::unwind
