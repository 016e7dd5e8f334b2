#include "analysis/collector.h"

namespace qperf::analysis {
namespace {

constexpr size_t kFixedWords = 4;  // era, stop and link's presence; pc; link; root
constexpr unsigned kStopShift = 32;
constexpr unsigned kLinkShift = 40;

}  // namespace

RawStack RawStack::from_words(std::span<const uint64_t> words) noexcept {
  RawStack stack{.era = static_cast<uint32_t>(words[0]),
                 .stop = static_cast<capture::StopReason>((words[0] >> kStopShift) & 0xff),
                 .link = std::nullopt,
                 .pc = GuestVa{words[1]},
                 .root = static_cast<uint32_t>(words[3]),
                 .frames = words.subspan(kFixedWords)};
  if ((words[0] >> kLinkShift) != 0) stack.link = GuestVa{words[2]};
  return stack;
}

profile::StackId Collector::intern(const capture::Site& site, uint32_t era, uint32_t root) {
  words_.clear();
  words_.push_back(uint64_t{era} | (static_cast<uint64_t>(site.stop) << kStopShift) |
                   (uint64_t{site.link.has_value()} << kLinkShift));
  words_.push_back(site.pc.raw);
  words_.push_back(site.link.value_or(GuestVa{}).raw);
  words_.push_back(root);
  for (const GuestVa frame : site.frames) words_.push_back(frame.raw);
  return stacks_.intern(words_);
}

size_t Collector::row_of(VcpuIndex vcpu, profile::StackId stack) {
  if (stack.raw >= last_rows_.size()) last_rows_.resize(stacks_.size());
  LastRow& last = last_rows_[stack.raw];
  if (!last.known || last.vcpu != vcpu) last = LastRow{.vcpu = vcpu, .known = true, .row = weights_.row_of(vcpu, stack)};
  return last.row;
}

void Collector::add(const capture::SampleChunk& chunk) {
  slots_.assign(chunk.sites.size(), Slot{});
  const bool vcpu_selected = filter_.vcpus.contains(chunk.vcpu);
  const bool all_time = filter_.window.everything();
  const bool one_era = images_.eras() == 1;
  for (const capture::Sample& sample : chunk.samples) {
    if (sample.site >= slots_.size()) {
      ++seen_.bad_sites;
      continue;
    }
    ++seen_.samples;
    seen_.weight = profile::saturating_add(seen_.weight, sample.weight);
    if (!vcpu_selected || (!all_time && !filter_.window.contains(sample.wall_ns, sample.insns))) continue;
    uint32_t root = kNoRoot;
    if (view_ != nullptr) {
      const auto chosen = view_->root_of(chunk.vcpu, sample.task, sample.wall_ns);
      if (!chosen) continue;
      root = *chosen;
    }
    const uint32_t era = one_era ? 0 : images_.era_at(sample.wall_ns);
    Slot& slot = slots_[sample.site];
    if (slot.era != era || slot.root != root) {
      const profile::StackId stack = intern(chunk.sites[sample.site], era, root);
      slot = Slot{.era = era, .root = root, .stack = stack, .row = row_of(chunk.vcpu, stack)};
    }
    weights_[slot.row].add(sample.weight, 1);
    if (keep_order_ == KeepOrder::kYes) timeline_.add(sample.wall_ns, chunk.vcpu, slot.stack, sample.weight);
  }
}

void Collector::add_plain(VcpuIndex vcpu, const capture::Site& site) {
  const uint64_t position = seen_.samples++;
  seen_.weight = profile::saturating_add(seen_.weight, 1);
  if (!filter_.vcpus.contains(vcpu)) return;
  const profile::StackId stack = intern(site, 0, kNoRoot);
  weights_[weights_.row_of(vcpu, stack)].add(1, 1);
  if (keep_order_ == KeepOrder::kYes) timeline_.add(position, vcpu, stack, 1);
}

void Collector::add_block(GuestVa pc, uint64_t instructions) {
  ++seen_.samples;
  seen_.weight = profile::saturating_add(seen_.weight, instructions);
  // Counts have no clock: the latest era in which the address is text.
  uint32_t era = static_cast<uint32_t>(images_.eras() - 1);
  while (era > 0 && !images_.place(era, pc)) --era;
  capture::Site site;
  site.pc = pc;
  weights_[weights_.row_of(VcpuIndex{0}, intern(site, era, kNoRoot))].add(instructions, 1);
}

}  // namespace qperf::analysis
