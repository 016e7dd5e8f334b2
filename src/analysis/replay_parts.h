#pragma once

#include <memory>
#include <string>
#include <vector>

#include "analysis/collector.h"
#include "analysis/image_set.h"
#include "analysis/sample_replay.h"
#include "profile/filter.h"
#include "profile/ids.h"

namespace qperf::analysis {

/// In the heap, so that the parts that refer to each other stay where they are.
struct SampleReplay::Parts {
  std::string path;
  ImageSet images;
  profile::SampleFilter filter;
  std::unique_ptr<Collector> collector;  // refers to images and filter
  std::vector<profile::StackId> named;   // by the collector's stacks
};

}  // namespace qperf::analysis
