#include "analysis/collector.h"

#include <algorithm>
#include <array>

namespace qperf::analysis {

profile::StackId Collector::intern(uint32_t era, uint32_t root, SiteId site) {
  return stacks_.intern(std::array{era, root, site.raw});
}

RawStack Collector::raw_stack(profile::StackId id) const {
  const auto words = stacks_[id];
  return {.era = words[0], .root = words[1], .site = SiteId{words[2]}};
}

void Collector::number_sites_of(capture::Handlers& handlers) {
  // Sums by stack alone take less than decoding does.
  if (view_ == nullptr && keep_ != Keep::kBins) return;
  handlers.number_sites = [this](std::span<const capture::PackedSite> sites, std::vector<uint32_t>& numbers) {
    sites_.intern(sites, numbers);
  };
}

void Collector::select(const capture::PackedSamples& chunk) {
  selected_.clear();
  seen_.samples += chunk.samples.size();
  for (const capture::Sample& sample : chunk.samples) seen_.weight = profile::saturating_add(seen_.weight, sample.weight);
  if (!filter_.vcpus.contains(chunk.vcpu)) return;
  const bool all_time = filter_.window.everything();
  for (uint32_t i = 0; i < chunk.samples.size(); ++i) {
    const capture::Sample& sample = chunk.samples[i];
    if (!all_time && !filter_.window.contains(sample.wall_ns, sample.insns)) continue;
    const auto root = view_ == nullptr ? kNoRoot : view_->root_of(chunk.vcpu, sample.task, sample.wall_ns);
    if (root) selected_.push_back({.sample = i, .root = *root});
  }
}

void Collector::number(const capture::PackedSamples& chunk) {
  numbers_ = chunk.site_numbers;
  if (numbers_.size() == chunk.sites.size()) return;
  sites_.intern(chunk.sites, own_numbers_);
  numbers_ = own_numbers_;
}

void Collector::add(const capture::PackedSamples& chunk) {
  select(chunk);
  if (selected_.empty()) return;
  number(chunk);
  // The table of sites itself may be at work on a later chunk.
  auto& last = last_[chunk.vcpu.raw % kLastVcpus];
  last.resize(std::max<size_t>(last.size(), size_t{1} + std::ranges::max(numbers_)));
  // Everything is asked for ahead of its use, else each sample waits for memory several times.
  std::array<uint32_t, kBatch> rows;
  std::span<const Selected> rest = selected_;
  prefetch_last(chunk, rest.first(std::min(kBatch, rest.size())));
  while (!rest.empty()) {
    const auto batch = rest.first(std::min(kBatch, rest.size()));
    rest = rest.subspan(batch.size());
    prefetch_last(chunk, rest.first(std::min(kBatch, rest.size())));
    find_rows(chunk, batch, rows);
    for (size_t i = 0; i < batch.size(); ++i) {
      const capture::Sample& sample = chunk.samples[batch[i].sample];
      weights_[rows[i]].add(sample.weight, 1);
      keep(sample.wall_ns, chunk.vcpu, rows[i], sample.weight);
    }
  }
}

void Collector::prefetch_last(const capture::PackedSamples& chunk, std::span<const Selected> batch) const {
  const auto& last = last_[chunk.vcpu.raw % kLastVcpus];
  for (const Selected& selected : batch) __builtin_prefetch(last.data() + numbers_[chunk.samples[selected.sample].site]);
}

void Collector::find_rows(const capture::PackedSamples& chunk, std::span<const Selected> batch, std::span<uint32_t> rows) {
  struct Unknown {
    RowKey key;
    uint64_t hash;
    uint32_t place;  // in the batch
  };
  std::array<Unknown, kBatch> unknown;
  size_t unknowns = 0;
  for (uint32_t i = 0; i < batch.size(); ++i) {
    const Last& last = last_of(chunk, batch[i]);
    const capture::Sample& sample = chunk.samples[batch[i].sample];
    const uint32_t era = era_of(sample);
    rows[i] = last.row;
    if (last.era == era && last.root == batch[i].root && last.vcpu == chunk.vcpu) {
      prefetch_sums(rows[i]);
      continue;
    }
    const RowKey key{.vcpu = chunk.vcpu.raw, .era = era, .root = batch[i].root, .site = numbers_[sample.site]};
    unknown[unknowns] = {.key = key, .hash = key.hash(), .place = i};
    index_.prefetch(unknown[unknowns++].hash);
  }
  for (const auto& [key, hash, place] : std::span(unknown).first(unknowns)) {
    auto row = index_.find(key, hash);
    if (!row) {
      row = static_cast<uint32_t>(weights_.row_of(chunk.vcpu, intern(key.era, key.root, SiteId{key.site})));
      index_.insert(key, hash, *row);
    }
    rows[place] = *row;
    prefetch_sums(*row);
    last_of(chunk, batch[place]) = Last{.era = key.era, .root = key.root, .vcpu = chunk.vcpu, .row = *row};
  }
}

void Collector::prefetch_sums(uint32_t row) const noexcept {
  weights_.prefetch(row);
  if (keep_ == Keep::kBins) bins_.prefetch(row);
}

void Collector::keep(WallNs wall_ns, VcpuIndex vcpu, uint32_t row, uint64_t weight) {
  switch (keep_) {
    case Keep::kSums: break;
    case Keep::kOrder: timeline_.add(wall_ns, vcpu, weights_[row].stack, weight); break;
    case Keep::kBins: bins_.add(wall_ns, row, weight); break;
  }
}

void Collector::visit(const capture::PackedSamples& chunk,
                      const std::function<void(const capture::Sample&, profile::StackId)>& use) {
  const Seen first_time = seen_;
  select(chunk);
  seen_ = first_time;
  if (selected_.empty()) return;
  number(chunk);
  for (const Selected& selected : selected_) {
    const capture::Sample& sample = chunk.samples[selected.sample];
    use(sample, intern(era_of(sample), selected.root, SiteId{numbers_[sample.site]}));
  }
}

void Collector::add_plain(VcpuIndex vcpu, const capture::Site& site) {
  const uint64_t position = seen_.samples++;
  seen_.weight = profile::saturating_add(seen_.weight, 1);
  if (!filter_.vcpus.contains(vcpu)) return;
  const profile::StackId stack = intern(0, kNoRoot, sites_.intern(site));
  const auto row = static_cast<uint32_t>(weights_.row_of(vcpu, stack));
  weights_[row].add(1, 1);
  keep(position, vcpu, row, 1);
}

void Collector::add_block(GuestVa pc, uint64_t instructions, WallNs since_ns) {
  ++seen_.samples;
  seen_.weight = profile::saturating_add(seen_.weight, instructions);
  const uint32_t first = images_.era_at(since_ns);
  const auto eras = static_cast<uint32_t>(images_.eras());
  uint32_t era = first;
  while (era < eras && !images_.place(era, pc)) ++era;
  if (era == eras) era = first;
  while (era > 0 && !images_.place(era, pc)) --era;
  capture::Site site;
  site.pc = pc;
  weights_[weights_.row_of(VcpuIndex{0}, intern(era, kNoRoot, sites_.intern(site)))].add(instructions, 1);
}

}  // namespace qperf::analysis
