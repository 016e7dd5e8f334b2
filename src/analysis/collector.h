#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "analysis/image_set.h"
#include "analysis/row_index.h"
#include "analysis/sample_view.h"
#include "analysis/site_table.h"
#include "capture/packed_samples.h"
#include "capture/reader.h"
#include "capture/records.h"
#include "profile/bin_collector.h"
#include "profile/filter.h"
#include "profile/sequence_table.h"
#include "profile/timeline.h"
#include "profile/weights.h"

namespace qperf::analysis {

/// What samples were summed by, before any rule is applied to it.
struct RawStack {
  uint32_t era = 0;
  uint32_t root = kNoRoot;  // SampleView's
  SiteId site;
};

/// Sums samples by (vCPU, era, root, site). Sites are interned without being decoded, so that a sample costs some tens of
/// nanoseconds even where hardly two share one; memory grows with distinct sites, and by one chunk.
class Collector {
 public:
  enum class Keep : uint8_t { kSums, kOrder, kBins };

  /// `view`: nullptr, or what else chooses samples and gives them roots. `end_ns`: of the capture, where known.
  Collector(const ImageSet& images, const profile::SampleFilter& filter, Keep keep, SampleView* view = nullptr, WallNs end_ns = 0)
      : images_(images), filter_(filter), keep_(keep), view_(view), bins_(end_ns) {}

  /// To be called for the handlers whose `packed_samples` calls add() or visit(): has the reading's thread number the sites, where
  /// that is the one with time to spare.
  void number_sites_of(capture::Handlers& handlers);

  void add(const capture::PackedSamples& chunk);
  /// One sample of weight 1 without a clock.
  void add_plain(VcpuIndex vcpu, const capture::Site& site);
  /// Exact counts: `instructions` were executed in the block at pc, some time after `since_ns`.
  void add_block(GuestVa pc, uint64_t instructions, WallNs since_ns);

  /// The selected samples of a chunk that add() has seen before, with their raw stacks; sums stay as they are.
  void visit(const capture::PackedSamples& chunk, const std::function<void(const capture::Sample&, profile::StackId)>& use);

  struct Seen {
    uint64_t samples = 0;
    uint64_t weight = 0;
  };

  /// Of the whole file, before the filter.
  [[nodiscard]] const Seen& seen() const noexcept { return seen_; }
  /// More distinct sites than are kept: what was added is not to be used.
  [[nodiscard]] bool full() const noexcept { return sites_.full(); }
  /// Selected weights by raw stack.
  [[nodiscard]] const profile::WeightTable& weights() const noexcept { return weights_; }
  /// Number of raw stacks; ids are 0 .. raw_stacks() - 1.
  [[nodiscard]] size_t raw_stacks() const noexcept { return stacks_.size(); }
  [[nodiscard]] RawStack raw_stack(profile::StackId id) const;
  /// Overwrites `site`.
  void read(SiteId id, capture::Site& site) const { sites_.read(id, site); }
  [[nodiscard]] const profile::Timeline& timeline() const noexcept { return timeline_; }
  /// By row of weights().
  [[nodiscard]] const profile::BinCollector& bins() const noexcept { return bins_; }

 private:
  static constexpr uint32_t kNoEra = 0xffffffff;
  static constexpr size_t kLastVcpus = 8;
  static constexpr size_t kBatch = 32;

  /// What the last sample at a site was counted under, kept for kLastVcpus vCPUs: where tasks are not told apart, and often where they
  /// are, the next one is counted under the same.
  struct Last {
    uint32_t era = kNoEra;
    uint32_t root = kNoRoot;
    VcpuIndex vcpu;
    uint32_t row = 0;
  };

  struct Selected {
    uint32_t sample;  // index into the chunk's
    uint32_t root;
  };

  [[nodiscard]] uint32_t era_of(const capture::Sample& sample) const {
    return images_.eras() == 1 ? 0 : images_.era_at(sample.wall_ns);
  }
  profile::StackId intern(uint32_t era, uint32_t root, SiteId site);
  /// Those of the chunk's samples that the filters select.
  void select(const capture::PackedSamples& chunk);
  /// Sets numbers_: what the chunk came with, else made here.
  void number(const capture::PackedSamples& chunk);
  void prefetch_last(const capture::PackedSamples& chunk, std::span<const Selected> batch) const;
  /// rows[i]: of weights(), for batch[i].
  void find_rows(const capture::PackedSamples& chunk, std::span<const Selected> batch, std::span<uint32_t> rows);
  void prefetch_sums(uint32_t row) const noexcept;
  Last& last_of(const capture::PackedSamples& chunk, const Selected& selected) {
    return last_[chunk.vcpu.raw % kLastVcpus][numbers_[chunk.samples[selected.sample].site]];
  }
  void keep(WallNs wall_ns, VcpuIndex vcpu, uint32_t row, uint64_t weight);

  const ImageSet& images_;
  const profile::SampleFilter& filter_;
  Keep keep_;
  SampleView* view_;
  Seen seen_;
  SiteTable sites_;
  profile::SequenceTable<uint32_t> stacks_;  // era, root, site
  RowIndex index_;
  profile::WeightTable weights_;
  profile::Timeline timeline_;
  profile::BinCollector bins_;
  std::array<std::vector<Last>, kLastVcpus> last_;  // by the vCPU's number modulo kLastVcpus, and by site
  std::vector<Selected> selected_;  // of the chunk at hand, as the rest
  std::span<const uint32_t> numbers_;     // SiteIds, by the chunk's sites
  std::vector<uint32_t> own_numbers_;     // where the chunk came without
};

}  // namespace qperf::analysis
