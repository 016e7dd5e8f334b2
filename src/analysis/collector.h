#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "analysis/image_set.h"
#include "analysis/sample_view.h"
#include "capture/records.h"
#include "profile/filter.h"
#include "profile/sequence_table.h"
#include "profile/timeline.h"
#include "profile/weights.h"

namespace qperf::analysis {

/// A site as it is interned, before any rule is applied to it.
struct RawStack {
  uint32_t era = 0;
  capture::StopReason stop = capture::StopReason::kBottom;
  std::optional<GuestVa> link;
  GuestVa pc;
  uint32_t root = kNoRoot;           // SampleView's
  std::span<const uint64_t> frames;  // return addresses, leaf first

  /// The inverse of what Collector interns.
  [[nodiscard]] static RawStack from_words(std::span<const uint64_t> words) noexcept;
};

/// Sums samples by (vCPU, era, root, site). A site is interned once a chunk, so that a sample costs a few nanoseconds; memory grows
/// with distinct sites, and by one chunk.
class Collector {
 public:
  enum class KeepOrder : uint8_t { kNo, kYes };

  /// `view`: nullptr, or what else chooses samples and gives them roots.
  Collector(const ImageSet& images, const profile::SampleFilter& filter, KeepOrder keep_order, SampleView* view = nullptr)
      : images_(images), filter_(filter), keep_order_(keep_order), view_(view) {}

  void add(const capture::SampleChunk& chunk);
  /// One sample of weight 1 without a clock.
  void add_plain(VcpuIndex vcpu, const capture::Site& site);
  /// Exact counts: `instructions` were executed in the block at pc.
  void add_block(GuestVa pc, uint64_t instructions);

  struct Seen {
    uint64_t samples = 0;
    uint64_t weight = 0;
    uint64_t bad_sites = 0;  // samples whose site their chunk does not have: not counted otherwise
  };

  /// Of the whole file, before the filter.
  [[nodiscard]] const Seen& seen() const noexcept { return seen_; }
  /// Selected weights by raw stack.
  [[nodiscard]] const profile::WeightTable& weights() const noexcept { return weights_; }
  [[nodiscard]] const profile::SequenceTable<uint64_t>& stacks() const noexcept { return stacks_; }
  [[nodiscard]] const profile::Timeline& timeline() const noexcept { return timeline_; }

 private:
  struct Slot {
    uint32_t era = kNoEra;
    uint32_t root = kNoRoot;
    profile::StackId stack;
    size_t row = 0;
  };
  static constexpr uint32_t kNoEra = 0xffffffff;

  struct LastRow {
    VcpuIndex vcpu;
    bool known = false;
    size_t row = 0;
  };

  profile::StackId intern(const capture::Site& site, uint32_t era, uint32_t root);
  size_t row_of(VcpuIndex vcpu, profile::StackId stack);

  const ImageSet& images_;
  const profile::SampleFilter& filter_;
  KeepOrder keep_order_;
  SampleView* view_;
  Seen seen_;
  profile::SequenceTable<uint64_t> stacks_;
  profile::WeightTable weights_;
  profile::Timeline timeline_;
  std::vector<LastRow> last_rows_;  // by stack: most stacks stay on one vCPU for long
  std::vector<uint64_t> words_;     // reused
  std::vector<Slot> slots_;         // by site of the chunk at hand
};

}  // namespace qperf::analysis
