#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "capture/packed_samples.h"
#include "capture/records.h"
#include "profile/sequence_table.h"

namespace qperf::analysis {

/// A distinct site of a capture; dense from 0 in order of first sight.
struct SiteId {
  uint32_t raw = 0;
  friend constexpr auto operator<=>(SiteId, SiteId) = default;
};

/// Distinct sites, kept as the capture has them: a site that was seen before costs a hash and a comparison of some ten bytes,
/// and only who looks into one decodes it. Grows with distinct sites, up to a bound: a small file can hold very many.
class SiteTable {
 public:
  /// Some twenty million sites as recordings have them.
  static constexpr size_t kMostBytes = size_t{1} << 30;

  explicit SiteTable(size_t most_bytes = kMostBytes) : most_bytes_(most_bytes) {}

  /// Fills `numbers`: numbers[i] is the SiteId of sites[i]; of any site where the table is full.
  void intern(std::span<const capture::PackedSite> sites, std::vector<uint32_t>& numbers);
  SiteId intern(const capture::Site& site);

  /// Overwrites `site`.
  void read(SiteId id, capture::Site& site) const;

  [[nodiscard]] size_t size() const noexcept { return packed_.size(); }
  /// A site found no room; what is interned is wrong from then on. Any thread.
  [[nodiscard]] bool full() const noexcept { return full_.load(std::memory_order_relaxed); }

 private:
  using Packed = profile::SequenceTable<std::byte>;  // the pc's eight bytes, then PackedSite::rest

  Packed packed_;
  const size_t most_bytes_;
  std::atomic<bool> full_{false};
  std::vector<std::byte> bytes_;  // reused
};

}  // namespace qperf::analysis
