#include "tools/qperf/top/live_names.h"

#include "analysis/capture_input.h"
#include "symbols/slide.h"

namespace qperf::tools {

Result<void> LiveNames::prepare() {
  if (images_ && fingerprints_ >= symbols::kLeastSightings) return {};
  QPERF_ASSIGN_OR_RETURN(const analysis::CaptureInput input, analysis::survey_capture(path_));
  if (images_ && input.fingerprints.size() == fingerprints_) return {};
  fingerprints_ = input.fingerprints.size();
  kernel_range_ = input.summary.header.kernel_range;
  analysis::Messages messages;
  QPERF_ASSIGN_OR_RETURN(analysis::ImageSet images,
                         analysis::ImageSet::open(elfs_, input, analysis::Mismatch::kRefuse, messages));
  rules_.reset();
  images_.emplace(std::move(images));
  clear_names();
  return {};
}

void LiveNames::clear_names() {
  rules_.reset();
  lookups_ = std::make_unique<analysis::LookupTable>();
  named_.clear();
  rules_.emplace(*images_, kernel_range_, *lookups_);
}

void LiveNames::clear_stacks() {
  // A forged capture has new addresses in every window.
  constexpr size_t kMaxNames = size_t{1} << 22;
  stacks_.clear();
  if (lookups_ == nullptr || lookups_->all().size() <= kMaxNames) return;
  clear_names();
  frames_ = profile::FrameTable();
}

size_t LiveNames::add(const capture::Site& site, WallNs wall_ns) {
  const uint32_t era = images_->era_at(wall_ns);
  rules_->saw_executed(era, site.pc);
  rules_->apply(era, site, stacks_.emplace_back());
  return stacks_.size() - 1;
}

Result<void> LiveNames::name_pending() {
  const auto pending = lookups_->all().subspan(named_.size());
  if (pending.empty()) return {};
  QPERF_ASSIGN_OR_RETURN(auto named, analysis::name_lookups(*images_, pending, frames_));
  for (auto& name : named) named_.push_back(std::move(name));
  return {};
}

void LiveNames::frames(size_t stack, Stack& out) const {
  out.clear();
  for (const analysis::LookupId lookup : stacks_[stack]) {
    for (const auto& line : named_[lookup.raw].lines) out.push_back(line.frame);
  }
}

}  // namespace qperf::tools
