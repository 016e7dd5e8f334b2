#include "analysis/sample_replay.h"

#include "analysis/replay_parts.h"
#include "capture/reader.h"

namespace qperf::analysis {

SampleReplay::SampleReplay(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
SampleReplay::~SampleReplay() = default;

Result<void> SampleReplay::run(const std::function<void(const TimedSample&)>& use) const {
  capture::Handlers handlers;
  parts_->collector->number_sites_of(handlers);
  handlers.packed_samples = [&](const capture::PackedSamples& chunk) -> Result<void> {
    parts_->collector->visit(chunk, [&](const capture::Sample& sample, profile::StackId raw) {
      // A file that grew since it was profiled has stacks that were never named.
      if (raw.raw >= parts_->named.size()) return;
      use({.vcpu = chunk.vcpu, .task = sample.task, .wall_ns = sample.wall_ns, .weight = sample.weight, .stack = parts_->named[raw.raw]});
    });
    return {};
  };
  QPERF_RETURN_IF_ERROR(capture::read_capture(parts_->path, handlers));
  return {};
}

}  // namespace qperf::analysis
