#include "tools/qperf/top/sample_window.h"

#include <algorithm>
#include <vector>

namespace qperf::tools {
namespace {

/// The chunk without the sites that no sample uses, and without samples of sites that it does not have.
capture::SampleChunk compact(const capture::SampleChunk& chunk) {
  constexpr uint32_t kUnused = ~uint32_t{0};
  std::vector<uint32_t> place(chunk.sites.size(), kUnused);
  capture::SampleChunk kept;
  kept.vcpu = chunk.vcpu;
  kept.samples.reserve(chunk.samples.size());
  for (capture::Sample sample : chunk.samples) {
    if (sample.site >= chunk.sites.size()) continue;
    uint32_t& site = place[sample.site];
    if (site == kUnused) {
      site = static_cast<uint32_t>(kept.sites.size());
      kept.sites.push_back(chunk.sites[sample.site]);
    }
    sample.site = site;
    kept.samples.push_back(sample);
  }
  kept.sites.shrink_to_fit();
  return kept;
}

}  // namespace

void SampleWindow::keep(const capture::SampleChunk& chunk) {
  capture::SampleChunk kept = compact(chunk);
  if (kept.samples.empty()) return;
  const WindowBounds more = size_of(kept);
  held_.samples += more.samples;
  held_.frames += more.frames;
  held_.bytes += more.bytes;
  chunks_.push_back(std::move(kept));
  while (too_large() && chunks_.size() > 1) {
    dropped_until_ = std::max(dropped_until_.value_or(0), chunks_.front().samples.back().wall_ns);
    forget_front();
  }
}

void SampleWindow::forget_before(WallNs from) {
  while (!chunks_.empty() && chunks_.front().samples.back().wall_ns < from) forget_front();
}

WindowBounds SampleWindow::size_of(const capture::SampleChunk& chunk) noexcept {
  WindowBounds size{.samples = chunk.samples.size(), .frames = 0, .bytes = 0};
  for (const capture::Site& site : chunk.sites) size.frames += site.frames.size() + 1;
  size.bytes = sizeof chunk + chunk.samples.size() * sizeof(capture::Sample) + chunk.sites.size() * sizeof(capture::Site) +
               size.frames * sizeof(GuestVa);
  return size;
}

bool SampleWindow::too_large() const noexcept {
  return held_.samples > bounds_.samples || held_.frames > bounds_.frames || held_.bytes > bounds_.bytes;
}

void SampleWindow::forget_front() {
  const WindowBounds less = size_of(chunks_.front());
  held_.samples -= less.samples;
  held_.frames -= less.frames;
  held_.bytes -= less.bytes;
  chunks_.pop_front();
}

}  // namespace qperf::tools
