#include "analysis/collector.h"

#include <array>

namespace qperf::analysis {

profile::StackId Collector::intern(uint32_t era, uint32_t root, SiteId site) {
  return stacks_.intern(std::array{era, root, site.raw});
}

void Collector::read(profile::StackId id, RawStack& stack) const {
  const auto words = stacks_[id];
  stack.era = words[0];
  stack.root = words[1];
  sites_.read(SiteId{words[2]}, stack.site);
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

void Collector::add(const capture::PackedSamples& chunk) {
  select(chunk);
  if (selected_.empty()) return;
  sites_.intern(chunk.sites, site_ids_);
  last_[chunk.vcpu.raw % kLastVcpus].resize(sites_.size());
  for (size_t i = 0; i < selected_.size(); ++i) {
    // Ahead of their use, else each sample waits for memory twice.
    constexpr size_t kAhead = 8;
    if (i + 2 * kAhead < selected_.size()) __builtin_prefetch(&last_of(chunk, selected_[i + 2 * kAhead]));
    if (i + kAhead < selected_.size()) weights_.prefetch(last_of(chunk, selected_[i + kAhead]).row);
    count(chunk, selected_[i]);
  }
}

void Collector::count(const capture::PackedSamples& chunk, const Selected& selected) {
  const capture::Sample& sample = chunk.samples[selected.sample];
  const uint32_t era = images_.eras() == 1 ? 0 : images_.era_at(sample.wall_ns);
  Last& last = last_of(chunk, selected);
  if (last.era != era || last.root != selected.root || last.vcpu != chunk.vcpu) {
    const size_t row = weights_.row_of(chunk.vcpu, intern(era, selected.root, site_ids_[sample.site]));
    last = Last{.era = era, .root = selected.root, .vcpu = chunk.vcpu, .row = static_cast<uint32_t>(row)};
  }
  weights_[last.row].add(sample.weight, 1);
  keep(sample.wall_ns, chunk.vcpu, weights_[last.row].stack, sample.weight);
}

void Collector::keep(WallNs wall_ns, VcpuIndex vcpu, profile::StackId stack, uint64_t weight) {
  switch (keep_) {
    case Keep::kSums: break;
    case Keep::kOrder: timeline_.add(wall_ns, vcpu, stack, weight); break;
    case Keep::kBins: bins_.add(wall_ns, vcpu, stack, weight); break;
  }
}

void Collector::visit(const capture::PackedSamples& chunk,
                      const std::function<void(const capture::Sample&, profile::StackId)>& use) {
  const Seen first_time = seen_;
  select(chunk);
  seen_ = first_time;
  if (selected_.empty()) return;
  sites_.intern(chunk.sites, site_ids_);
  for (const Selected& selected : selected_) {
    const capture::Sample& sample = chunk.samples[selected.sample];
    const uint32_t era = images_.eras() == 1 ? 0 : images_.era_at(sample.wall_ns);
    use(sample, intern(era, selected.root, site_ids_[sample.site]));
  }
}

void Collector::add_plain(VcpuIndex vcpu, const capture::Site& site) {
  const uint64_t position = seen_.samples++;
  seen_.weight = profile::saturating_add(seen_.weight, 1);
  if (!filter_.vcpus.contains(vcpu)) return;
  const profile::StackId stack = intern(0, kNoRoot, sites_.intern(site));
  weights_[weights_.row_of(vcpu, stack)].add(1, 1);
  keep(position, vcpu, stack, 1);
}

void Collector::add_block(GuestVa pc, uint64_t instructions) {
  ++seen_.samples;
  seen_.weight = profile::saturating_add(seen_.weight, instructions);
  // Counts have no clock: the latest era in which the address is text.
  uint32_t era = static_cast<uint32_t>(images_.eras() - 1);
  while (era > 0 && !images_.place(era, pc)) --era;
  capture::Site site;
  site.pc = pc;
  weights_[weights_.row_of(VcpuIndex{0}, intern(era, kNoRoot, sites_.intern(site)))].add(instructions, 1);
}

}  // namespace qperf::analysis
